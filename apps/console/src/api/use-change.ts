import type { Client } from '@baton/client';
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useApi, useTenant } from './api-context';

/**
 * Sends a change to the manager, then reloads all queries of `kinds` in this tenant.
 * `onDone` closes the dialog or navigates away. It runs before the reload, so that deleted data are not read again.
 */
export function useChange<Input = void, Answer = unknown>(
  kinds: readonly string[],
  ask: (client: Client, tenant: string, input: Input) => Promise<Answer>,
  onDone?: (answer: Answer, input: Input) => unknown,
): UseMutationResult<Answer, Error, Input> {
  const { client } = useApi();
  const tenant = useTenant();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => ask(client, tenant, input),
    // Input may contain passwords and values of secrets: it is dropped from memory together with the dialog.
    gcTime: 0,
    onSuccess: async (answer, input) => {
      await onDone?.(answer, input);
      void cache.invalidateQueries({
        predicate: ({ queryKey: [kind, ofTenant] }) => kinds.includes(String(kind)) && ofTenant === tenant,
      });
    },
  });
}
