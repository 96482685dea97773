import {
  type FilterRule,
  filterRuleError,
  parseConstraints,
  parseFilterRules,
  ruleAttributes,
} from '@baton/contracts';
import { secretRoutes } from '@baton/contracts/http/secrets';
import { answer, type BoundRoute, bindRoutes, type HttpCall, listEnvelope, pickFields } from '@baton/http';
import { AppError, type Clock, type JsonObject, Secret } from '@baton/kernel';
import {
  type PatchSecret,
  patchSecret,
  putSecret,
  removeSecret,
  type SecretDeps,
  setSecretVisibility,
} from '../commands/change-secret';
import { exportSecrets, importSecrets, passphraseOf } from '../commands/share-secrets';
import { getSecret, listSecrets, searchSecrets } from '../queries/read-secrets';
import type { WirePolicy } from './wire-policy';

/** Header for the passphrase of an export; proxies do not log it, unlike the query. */
const passphraseHeader = 'x-baton-passphrase';

interface SearchBody {
  filter_rules?: unknown;
  constraints?: unknown;
}

function searchRules(body: SearchBody, { skipsUnknown }: WirePolicy): FilterRule[] | null {
  const hasRules = body.filter_rules !== undefined && body.filter_rules !== null;
  if (body.constraints !== undefined && body.constraints !== null) {
    if (hasRules)
      throw new AppError('bad_parameters_error', 'filter_rules and constraints cannot be given together', {
        field: 'constraints',
        expected: 'one of both',
      });
    return parseConstraints(body.constraints, { nameAttribute: 'key', skipsUnknown }).rules;
  }
  if (!hasRules) return null;
  const rules = parseFilterRules(body.filter_rules, ruleAttributes.secrets);
  if (!rules.ok) throw filterRuleError(rules.error);
  return rules.value;
}

const optionsOf = (body: { provider_options?: unknown }) =>
  body.provider_options as JsonObject | null | undefined;

async function found(
  { db }: Pick<SecretDeps, 'db'>,
  wire: WirePolicy,
  call: HttpCall & { body: SearchBody },
) {
  const rules = searchRules(call.body, wire);
  const page = await searchSecrets(db.query, call.principal, call.list, rules);
  return listEnvelope(page, call.list);
}

export function secretsHttp(deps: SecretDeps & { clock: Clock }, wire: WirePolicy): BoundRoute[] {
  const { db } = deps;
  const shown = (call: HttpCall) =>
    getSecret(deps, call.principal, call.params.secret_key!, wire.answeredValue);
  const change = (run: (call: HttpCall, key: string) => Promise<void>) => async (call: HttpCall) => {
    await run(call, call.params.secret_key!);
    return shown(call);
  };
  return bindRoutes(secretRoutes, {
    listSecrets: async (call) =>
      listEnvelope(await listSecrets(db.query, call.principal, call.list), call.list),
    searchSecrets: (call) => found(deps, wire, call),
    getSecret: (call) =>
      getSecret(
        deps,
        call.principal,
        call.params.secret_key!,
        call.query._skip_value === true ? 'none' : 'value',
      ),
    putSecret: change((call, key) =>
      putSecret(deps, call.principal, key, {
        ...call.body,
        schema: call.body.schema as JsonObject | null | undefined,
        provider_options: optionsOf(call.body),
      }),
    ),
    patchSecret: change((call, key) => patchSecret(deps, call.principal, key, call.body as PatchSecret)),
    deleteSecret: async (call) => {
      await removeSecret(deps, call.principal, call.params.secret_key!);
      return answer({ status: 204 });
    },
    setSecretVisibility: change((call, key) =>
      setSecretVisibility(deps, call.principal, key, call.body.visibility),
    ),
    setSecretGlobal: change((call, key) => setSecretVisibility(deps, call.principal, key, 'global')),
    exportSecrets: async (call) => {
      const passphrase = passphraseOf(call.query._passphrase, call.headers[passphraseHeader]);
      const found = await exportSecrets(
        deps,
        call.principal,
        call.list,
        passphrase,
        call.query._include_metadata === true,
      );
      return found.map((item) => pickFields(item, call.list.include) as object);
    },
    importSecrets: (call) => {
      const { secrets_list, tenant_map, tenant_map_dict, passphrase, override_collisions } = call.body;
      return importSecrets(deps, call.principal, {
        items: secrets_list,
        tenantMap: tenant_map ?? tenant_map_dict ?? {},
        passphrase: passphrase === undefined || passphrase === '' ? null : new Secret(passphrase),
        isOverriding: override_collisions,
      });
    },
  });
}
