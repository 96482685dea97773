import type { Rig } from './rig';

export const headersOf = (password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`,
  tenant: 'default_tenant',
});

/** Lists executions once, without a retry. Status 0: the connection broke, or no answer arrived within 30 s. */
export async function readOnce({
  fleet,
}: Rig): Promise<{ status: number; ms: number; retryAfter: string | null }> {
  const since = performance.now();
  const response = await fetch(`${fleet.baseUrl}/api/v3.1/executions?_size=1`, {
    headers: headersOf(fleet.adminPassword),
    signal: AbortSignal.timeout(30_000),
  }).catch(() => null);
  await response?.arrayBuffer().catch(() => undefined);
  const retryAfter = response?.headers.get('retry-after') ?? null;
  return { status: response?.status ?? 0, ms: performance.now() - since, retryAfter };
}
