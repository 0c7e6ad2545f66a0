module opendev.org/x/magnum-capi-tempest/tests/functional/nodes/listener

go 1.26.0
