module opendev.org/x/magnum-capi-tempest/tools/offline/go/runc-nores

go 1.26.0

require github.com/moby/sys/capability v0.4.0
