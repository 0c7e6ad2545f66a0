#!/bin/bash
# Called by stack.sh, unstack.sh and clean.sh with their phase.

source $DEST/magnum-capi-tempest/devstack/lib/magnum_capi

if is_service_enabled magnum-capi; then
    case "$1 $2" in
        "stack pre-install")
            check_magnum_capi_order
            ;;
        "stack install")
            echo_summary "Installing drivers for Cluster API"
            install_magnum_capi
            ;;
        "stack post-config")
            echo_summary "Pointing Magnum at the management cluster"
            configure_magnum_capi
            ;;
        "stack extra")
            echo_summary "Preparing images and nodes for clusters"
            init_magnum_capi
            ;;
        "stack test-config")
            if is_service_enabled tempest; then
                echo_summary "Configuring Tempest for Magnum with Cluster API"
                configure_tempest_magnum_capi
            fi
            ;;
        "unstack "* | "clean "*)
            # Its objects belong to a Keystone that the next stack.sh replaces.
            cleanup_magnum_capi
            ;;
    esac
fi
