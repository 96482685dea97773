import type { ProviderChange } from '@baton/contracts/http/identity-providers';
import { badParameter } from '@baton/kernel';
import type { Provider } from './provider';

type Setting = keyof ProviderChange;

const OWN: Readonly<Record<Provider['type'], readonly Setting[]>> = {
  oidc: ['issuer', 'client_id', 'client_secret', 'scopes', 'parameters', 'claims'],
  ldap: [
    'urls',
    'bind_dn',
    'bind_password',
    'user_base',
    'user_filter',
    'username_attribute',
    'subject_attribute',
    'group_base',
    'group_filter',
    'group_name_attribute',
    'nested_groups',
  ],
};

/** @throws AppError bad_parameters_error for a setting of the other type: nobody shall believe that it counts */
export function requireOwnSettings(type: Provider['type'], wish: ProviderChange): void {
  const foreign = OWN[type === 'oidc' ? 'ldap' : 'oidc'].find((name) => wish[name] !== undefined);
  if (foreign === undefined) return;
  throw badParameter(foreign, `\`${foreign}\` is no setting of a provider of type ${type}`, {
    expected: OWN[type].join(', '),
  });
}
