/** Relationship types of the built-in types (reference 5.7, second table). */
const sharedResourceSide = `
    target_interfaces:
      cloudify.interfaces.relationship_lifecycle:
        establish:
          implementation: cfy_extensions.cloudify_types.shared_resource.execute_workflow
          inputs: &shared_resource_inputs
            workflow_id:
              description: Workflow of the shared resource to run.
              type: string
            parameters:
              type: dict
              default: {}
            timeout:
              description: Seconds to wait for the workflow.
              type: integer
              default: 10
        unlink:
          implementation: cfy_extensions.cloudify_types.shared_resource.execute_workflow
          inputs: *shared_resource_inputs`;

const lifecycle = `
      cloudify.interfaces.relationship_lifecycle:
        preconfigure: {}
        postconfigure: {}
        establish: {}
        unlink: {}
        check_drift: {}
        # only 1_4 1_5
        update: {}
        # end
        # only 1_3
        update_preconfigure: {}
        update_postconfigure: {}
        update_establish: {}
        # end`;

export const relationshipsText = `
relationships:

  cloudify.relationships.depends_on:
    properties:
      connection_type:
        description: all_to_all or all_to_one.
        default: all_to_all
    source_interfaces:${lifecycle}
    target_interfaces:${lifecycle}

  cloudify.relationships.connected_to:
    derived_from: cloudify.relationships.depends_on

  cloudify.relationships.contained_in:
    derived_from: cloudify.relationships.depends_on

  # Waits for one lifecycle operation of the target only.
  cloudify.relationships.depends_on_lifecycle_operation:
    derived_from: cloudify.relationships.depends_on
    properties:
      operation:
        description: Name of the operation.
        type: string

  cloudify.relationships.depends_on_shared_resource:
    derived_from: cloudify.relationships.depends_on${sharedResourceSide}

  cloudify.relationships.connected_to_shared_resource:
    derived_from: cloudify.relationships.connected_to${sharedResourceSide}

  cloudify.relationships.file_system_depends_on_volume:
    derived_from: cloudify.relationships.depends_on
    source_interfaces:
      cloudify.interfaces.relationship_lifecycle:
        preconfigure:
          implementation: script.script_runner.tasks.run
          inputs:
            script_path:
              default: file:///opt/manager/resources/cloudify/fs/fdisk.sh
            device_name:
              default: { get_attribute: [ TARGET, device_name ] }

  cloudify.relationships.file_system_contained_in_compute:
    derived_from: cloudify.relationships.contained_in
    source_interfaces:
      cloudify.interfaces.relationship_lifecycle:
        establish:
          implementation: script.script_runner.tasks.run
          inputs:
            script_path:
              default: file:///opt/manager/resources/cloudify/fs/mount.sh
        unlink:
          implementation: script.script_runner.tasks.run
          inputs:
            script_path:
              default: file:///opt/manager/resources/cloudify/fs/unmount.sh
`;
