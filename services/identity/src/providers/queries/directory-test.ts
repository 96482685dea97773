import type { ProviderTestAnswer } from '@baton/contracts/http/identity-providers';
import type { DirectoryProbe, ProbeResult } from '../adapters/directory-probe';
import type { LdapProvider } from '../domain/provider';
import type { Sealer } from '../domain/sealed-text';

interface Deps {
  probe: DirectoryProbe;
  sealer: Sealer;
}

/**
 * Connects to each server of the directory, binds, and looks for users and groups. Says in one sentence what fails. One server that
 * works is enough: those that do not are warnings.
 */
export async function testDirectory(
  { probe, sealer }: Deps,
  provider: LdapProvider,
): Promise<ProviderTestAnswer> {
  const { id, secretSealed, urls } = provider;
  if (secretSealed === null) return failed('bind', 'There is no bind_password.');
  if (!sealer.open('bind password', id, secretSealed))
    return failed('bind', 'The bind_password was sealed under another key: set bind_password again.');
  const results = await Promise.all(urls.map((url) => probe(provider, url)));
  const good = results.find((result) => result.step === 'done');
  const [first] = results;
  if (!good) return failed(first!.step, sentenceOf(first!));
  const bad = results.filter((result) => result.step !== 'done').map(sentenceOf);
  return {
    ok: true,
    step: 'done',
    message: `${good.url} answers. Below user_base it has ${count(good.users, 'user')}, below group_base ${count(good.groups, 'group')}.`,
    warnings: [...bad, ...good.warnings],
  };
}

const failed = (step: ProviderTestAnswer['step'], message: string): ProviderTestAnswer => ({
  ok: false,
  step,
  message,
  warnings: [],
});

const sentenceOf = ({ url, why }: ProbeResult): string => `${url} cannot be used: ${why}.`;

const count = ({ found, isMore }: { found: number; isMore: boolean }, noun: string): string =>
  `${isMore ? 'more than ' : ''}${found} ${noun}${found === 1 && !isMore ? '' : 's'}`;
