import { directOperation, FatalError } from '@baton/plugin-sdk';

/** Tasks of Fabric are functions in Python that call Fabric: nothing else can run them. */
export const pythonTask = directOperation({
  run: () => {
    throw new FatalError(
      'run_task and run_module_task run Python functions, which this plugin cannot: make a script of the function and use run_script, or ' +
        'upload the original plugin in Python (below version 2.1.0) and name its package_version in the blueprint',
    );
  },
});
