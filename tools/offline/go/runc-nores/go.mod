module opendev.org/x/magnum-capi-tempest/magnum_capi_tempest/toolchain/go/runc-nores

go 1.26.0

require github.com/moby/sys/capability v0.4.0
