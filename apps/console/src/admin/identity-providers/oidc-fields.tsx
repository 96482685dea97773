/** Fields of a provider of the type oidc (OpenID Connect). */
import { t } from '../../text/text';
import type { ErrorOf } from '../../ui/form-dialog';
import { GroupField } from '../../ui/group-field';
import styles from '../../ui/group-field.module.css';
import { AreaField, SelectField, TextField } from '../../ui/inputs';
import { PairRows } from '../../ui/pair-rows';
import type { OidcEntry } from './oidc-entry';

interface OidcFieldsProps {
  entry: OidcEntry;
  onChange: (entry: OidcEntry) => void;
  errorOf: ErrorOf;
  /** A secret is stored, and stays when nothing is typed. */
  hasSecret: boolean;
}

export function OidcFields({ entry, onChange, errorOf, hasSecret }: OidcFieldsProps) {
  const texts = t.identityProviders.form;
  const set = (part: Partial<OidcEntry>): void => onChange({ ...entry, ...part });
  return (
    <>
      <TextField
        label={texts.name}
        hint={texts.nameHint}
        value={entry.name}
        onChange={(name) => set({ name })}
        error={errorOf('name')}
      />
      <TextField
        label={t.identityProviders.issuer}
        hint={texts.issuerHint}
        value={entry.issuer}
        onChange={(issuer) => set({ issuer })}
        error={errorOf('issuer')}
        isRequired
      />
      <TextField
        label={t.identityProviders.clientId}
        value={entry.clientId}
        onChange={(clientId) => set({ clientId })}
        error={errorOf('client_id')}
        isRequired
      />
      <TextField
        label={t.identityProviders.clientSecret}
        hint={hasSecret ? texts.secretKept : texts.secretHint}
        type="password"
        autoComplete="new-password"
        value={entry.clientSecret}
        onChange={(clientSecret) => set({ clientSecret })}
        error={errorOf('client_secret')}
      />
      <TextField
        label={t.identityProviders.scopes}
        hint={texts.scopesHint}
        value={entry.scopes}
        onChange={(scopes) => set({ scopes })}
        error={errorOf('scopes')}
      />
      <Claims entry={entry} set={set} errorOf={errorOf} />
      <SelectField
        label={t.identityProviders.provision}
        value={entry.provision}
        options={[
          ['jit', t.identityProviders.provisions.jit],
          ['preexisting', t.identityProviders.provisions.preexisting],
        ]}
        onChange={(provision) => set({ provision })}
        error={errorOf('provision')}
      />
      <PairRows
        label={t.identityProviders.parameters}
        hint={texts.parametersHint}
        names={[texts.parameter, texts.value]}
        rows={entry.parameters}
        onChange={(parameters) => set({ parameters })}
        addText={texts.addParameter}
        error={errorOf('parameters')}
        rowError={(at) =>
          errorOf(`parameters[${at}]`) ?? errorOf(`parameters.${entry.parameters[at]![0].trim()}`)
        }
      />
      <AreaField
        label={t.identityProviders.certificate}
        hint={texts.certificateHint}
        value={entry.caCertificate}
        onChange={(caCertificate) => set({ caCertificate })}
        error={errorOf('ca_certificate')}
      />
    </>
  );
}

function Claims({
  entry,
  set,
  errorOf,
}: Pick<OidcFieldsProps, 'entry' | 'errorOf'> & { set: (part: Partial<OidcEntry>) => void }) {
  const texts = t.identityProviders.form;
  return (
    <GroupField label={t.identityProviders.claims} error={errorOf('claims')}>
      <div className={styles.two}>
        <TextField
          label={texts.usernameClaim}
          value={entry.usernameClaim}
          onChange={(usernameClaim) => set({ usernameClaim })}
          error={errorOf('claims.username')}
        />
        <TextField
          label={texts.groupsClaim}
          hint={texts.groupsHint}
          value={entry.groupsClaim}
          onChange={(groupsClaim) => set({ groupsClaim })}
          error={errorOf('claims.groups')}
        />
      </div>
      <TextField
        label={texts.suffix}
        hint={texts.suffixHint}
        value={entry.stripSuffix}
        onChange={(stripSuffix) => set({ stripSuffix })}
        error={errorOf('claims.strip_suffix')}
      />
    </GroupField>
  );
}
