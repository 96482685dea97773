import { directOperation } from '@baton/plugin-sdk';
import type { Json } from '../json';
import { withoutSensitive } from '../rest/sensitive-keys';

/** Writes its inputs into the log, for blueprints that try a workflow out. */
export const logInputs = directOperation({
  isResumable: true,
  run({ inputs, log }) {
    log.info(`Log interface: ${JSON.stringify(withoutSensitive({ ...inputs } as Json))}`);
  },
});
