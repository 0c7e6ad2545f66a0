/* SPDX-License-Identifier: Apache-2.0 */

/* A wall clock that is AHEAD seconds ahead, for programs that load this first
 * (LD_PRELOAD). Sleeps and waits with a timeout are not changed: Python's use
 * the monotonic clock. libfaketime 0.9.10 changes that, too: then time.sleep()
 * of Python 3.11 fails, or waits of threads never end. */

#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = syscall(SYS_clock_gettime, clock, now);

	if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += AHEAD;
	return result;
}

time_t time(time_t *where)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (where)
		*where = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec found;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &found);
	now->tv_sec = found.tv_sec;
	now->tv_usec = found.tv_nsec / 1000;
	return 0;
}
