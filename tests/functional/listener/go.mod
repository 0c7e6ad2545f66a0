module opendev.org/x/magnum-capi-tempest/tests/functional/listener

go 1.26.0
