/** Node types of the built-in types (reference 5.7, first table). */
export const nodeTypesText = `
node_types:

  # Everything is derived from this type.
  cloudify.nodes.Root:
    properties:
      use_external_resource:
        description: The resource exists already and is only used.
        type: boolean
        default: false
      resource_id:
        description: Name or id of the resource.
        required: false
    interfaces:
      cloudify.interfaces.lifecycle:
        precreate: {}
        create: {}
        configure: {}
        start: {}
        poststart: {}
        prestop: {}
        stop: {}
        delete: {}
        postdelete: {}
        preupdate: {}
        update: {}
        postupdate: {}
        update_config: {}
        update_apply: {}
        update_postapply: {}
        preheal: {}
        heal: {}
        postheal: {}
        pull: {}
        check_drift: {}
      cloudify.interfaces.validation:
        create: {}
        delete: {}
        check_status: {}
        creation: {}
        deletion: {}
      cloudify.interfaces.monitoring:
        start: {}
        stop: {}

  # A machine: physical, virtual or a container, on which other nodes live.
  cloudify.nodes.Compute:
    derived_from: cloudify.nodes.Root
    properties:
      ip:
        description: Address by which the machine is reached.
        default: ''
      os_family:
        description: linux or windows.
        default: linux
      agent_config:
        type: cloudify.datatypes.AgentConfig
        default:
          install_method: remote
          port: 22
          network: default
      install_agent:
        description: Deprecated, use agent_config.install_method.
        default: ''
      cloudify_agent:
        description: Deprecated, use agent_config.
        default: {}
    interfaces:
      cloudify.interfaces.cloudify_agent:
        create:
          implementation: agent.cloudify_agent.installer.operations.create
          executor: central_deployment_agent
        configure:
          implementation: agent.cloudify_agent.installer.operations.configure
          executor: central_deployment_agent
        start:
          implementation: agent.cloudify_agent.installer.operations.start
          executor: central_deployment_agent
        stop:
          implementation: agent.cloudify_agent.installer.operations.stop
          executor: central_deployment_agent
        stop_amqp:
          implementation: agent.cloudify_agent.operations.stop
          executor: host_agent
        delete:
          implementation: agent.cloudify_agent.installer.operations.delete
          executor: central_deployment_agent
        restart:
          implementation: agent.cloudify_agent.installer.operations.restart
          executor: central_deployment_agent
        restart_amqp:
          implementation: agent.cloudify_agent.operations.restart
          executor: host_agent
        install_plugins:
          implementation: agent.cloudify_agent.operations.install_plugins
          executor: host_agent
        uninstall_plugins:
          implementation: agent.cloudify_agent.operations.uninstall_plugins
          executor: host_agent
        create_amqp:
          implementation: agent.cloudify_agent.operations.create_agent_amqp
          executor: central_deployment_agent
          inputs:
            install_agent_timeout: {default: 300}
            manager_ip: {default: ''}
            manager_certificate: {default: ''}
            stop_old_agent: {default: false}
        validate_amqp:
          implementation: agent.cloudify_agent.operations.validate_agent_amqp
          executor: central_deployment_agent
          inputs:
            validate_agent_timeout: {default: 20}
      cloudify.interfaces.host:
        get_state: {}
      cloudify.interfaces.monitoring_agent:
        install: {}
        start: {}
        stop: {}
        uninstall: {}

  cloudify.nodes.Container:
    derived_from: cloudify.nodes.Compute

  cloudify.nodes.Tier:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.Volume:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.FileSystem:
    derived_from: cloudify.nodes.Root
    properties:
      use_external_resource:
        description: The volume is formatted already.
        type: boolean
        default: false
      partition_type:
        description: Partition id as in a partition table; 83 is Linux.
        type: integer
        default: 83
      fs_type:
        description: Such as ext4.
        type: string
      fs_mount_path:
        description: Folder to mount the file system on.
        type: string
    interfaces:
      cloudify.interfaces.lifecycle:
        configure:
          implementation: script.script_runner.tasks.run
          inputs:
            script_path:
              default: file:///opt/manager/resources/cloudify/fs/mkfs.sh

  cloudify.nodes.ObjectStorage:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.Network:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.Subnet:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.Port:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.Router:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.LoadBalancer:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.VirtualIP:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.SecurityGroup:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.SoftwareComponent:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.DBMS:
    derived_from: cloudify.nodes.SoftwareComponent

  cloudify.nodes.Database:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.WebServer:
    derived_from: cloudify.nodes.SoftwareComponent
    properties:
      port:
        default: 80

  cloudify.nodes.ApplicationServer:
    derived_from: cloudify.nodes.SoftwareComponent

  cloudify.nodes.MessageBusServer:
    derived_from: cloudify.nodes.SoftwareComponent

  cloudify.nodes.ApplicationModule:
    derived_from: cloudify.nodes.Root

  cloudify.nodes.CloudifyManager:
    derived_from: cloudify.nodes.SoftwareComponent
    properties:
      cloudify:
        description: Settings of the manager that is installed.
        default:
          resources_prefix: ''
          cloudify_agent:
            min_workers: 2
            max_workers: 5
            remote_execution_port: 22
            user: ubuntu
          workflows:
            task_retries: -1
            task_retry_interval: 30
          policy_engine:
            start_timeout: 30
      cloudify_packages:
        description: Packages to install the manager from.

  # A deployment of another blueprint, made and removed with this one.
  cloudify.nodes.Component:
    derived_from: cloudify.nodes.Root
    properties:
      resource_config:
        description: Blueprint and deployment of the component.
        type: cloudify.datatypes.Component
        default: {}
      client:
        description: Another manager to make the component on.
        type: cloudify.datatypes.RemoteCloudifyManagerClient
        default: {}
      plugins:
        description: Plugins to upload first.
        type: dict
        default: {}
      secrets:
        description: Secrets to create first.
        type: dict
        default: {}
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: cfy_extensions.cloudify_types.component.upload_blueprint
        configure:
          implementation: cfy_extensions.cloudify_types.component.create
        start:
          implementation: cfy_extensions.cloudify_types.component.execute_start
          inputs:
            workflow_id:
              type: string
              default: install
            timeout:
              description: Seconds to wait for the workflow.
              type: integer
              default: 1800
            interval:
              description: Seconds between looks at the workflow.
              type: integer
              default: 1
        stop:
          implementation: cfy_extensions.cloudify_types.component.execute_start
          inputs:
            workflow_id:
              default: uninstall
            resource_config:
              default:
                blueprint: { get_property: [ SELF, resource_config, blueprint ] }
                deployment: { get_property: [ SELF, resource_config, deployment ] }
                executions_start_args:
                  allow_custom_parameters: true
        delete:
          implementation: cfy_extensions.cloudify_types.component.delete
        refresh:
          implementation: cfy_extensions.cloudify_types.component.refresh
        # only 1_4 1_5
        check_drift:
          implementation: cfy_extensions.cloudify_types.component.check_drift
        heal:
          implementation: cfy_extensions.cloudify_types.component.heal
        update:
          implementation: cfy_extensions.cloudify_types.component.update
      cloudify.interfaces.validation:
        check_status:
          implementation: cfy_extensions.cloudify_types.component.check_status
        # end

  cloudify.nodes.ServiceComponent:
    derived_from: cloudify.nodes.Component

  # A deployment that others use too; it is connected to, never made or removed.
  cloudify.nodes.SharedResource:
    derived_from: cloudify.nodes.Root
    properties:
      resource_config:
        type: cloudify.datatypes.SharedResource
        default: {}
      client:
        type: cloudify.datatypes.RemoteCloudifyManagerClient
        default: {}
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: cfy_extensions.cloudify_types.shared_resource.connect_deployment
        delete:
          implementation: cfy_extensions.cloudify_types.shared_resource.disconnect_deployment
        refresh:
          implementation: cfy_extensions.cloudify_types.shared_resource.refresh
        # only 1_4 1_5
        check_drift:
          implementation: cfy_extensions.cloudify_types.shared_resource.check_drift
      cloudify.interfaces.validation:
        check_status:
          implementation: cfy_extensions.cloudify_types.shared_resource.check_status
        # end

  cloudify.nodes.Blueprint:
    derived_from: cloudify.nodes.Root
    properties:
      resource_config:
        type: cloudify.datatypes.Blueprint
        default: {}
      client:
        type: cloudify.datatypes.RemoteCloudifyManagerClient
        default: {}
      plugins:
        type: dict
        default: {}
      secrets:
        type: dict
        default: {}
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: cfy_extensions.cloudify_types.blueprint.upload
        delete:
          implementation: cfy_extensions.cloudify_types.blueprint.delete
  # only 1_4 1_5

  # A random password, kept as a secret.
  cloudify.nodes.PasswordSecret:
    derived_from: cloudify.nodes.Root
    properties:
      length: {type: integer, default: 8}
      uppercase: {description: Least number of capitals; -1 for none at all., type: integer, default: 0}
      lowercase: {description: Least number of small letters; -1 for none at all., type: integer, default: 0}
      digits: {description: Least number of digits; -1 for none at all., type: integer, default: 0}
      symbols: {description: Least number of symbols; -1 for none at all., type: integer, default: 0}
      secret_name: {description: Name of the secret., type: string, required: false}
      use_secret_if_exists: {description: Keep a secret of that name., type: boolean, default: false}
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: cfy_extensions.cloudify_types.password_secret.create
        delete:
          implementation: cfy_extensions.cloudify_types.password_secret.delete
      cloudify.interfaces.validation:
        create:
          implementation: cfy_extensions.cloudify_types.password_secret.creation_validation
  # end
`;
