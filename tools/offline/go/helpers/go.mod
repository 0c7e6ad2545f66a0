module opendev.org/x/magnum-capi-tempest/tools/offline/go/helpers

go 1.26.0
