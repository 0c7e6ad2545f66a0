module opendev.org/x/magnum-capi-tempest/magnum_capi_tempest/toolchain/go/helpers

go 1.26.0
