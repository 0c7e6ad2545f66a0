module opendev.org/x/magnum-capi-tempest/tools/go/helpers

go 1.26.0
