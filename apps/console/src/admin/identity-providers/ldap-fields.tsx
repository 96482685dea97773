/** Fields of a provider of the type ldap (a directory). */
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { Check } from '../../ui/field';
import type { ErrorOf } from '../../ui/form-dialog';
import { GroupField } from '../../ui/group-field';
import styles from '../../ui/group-field.module.css';
import { AreaField, SelectField, TextField } from '../../ui/inputs';
import { rowProblem } from '../../ui/row-problem';
import { ACTIVE_DIRECTORY, type LdapEntry, NEW_LDAP, urlsOf } from './ldap-entry';

interface LdapFieldsProps {
  entry: LdapEntry;
  onChange: (entry: LdapEntry) => void;
  errorOf: ErrorOf;
  /** A password is stored, and stays when nothing is typed. */
  hasSecret: boolean;
}

type PartProps = Pick<LdapFieldsProps, 'entry' | 'errorOf'> & { set: (part: Partial<LdapEntry>) => void };

export function LdapFields({ entry, onChange, errorOf, hasSecret }: LdapFieldsProps) {
  const texts = t.identityProviders;
  const set = (part: Partial<LdapEntry>): void => onChange({ ...entry, ...part });
  const ofUrls = urlsOf(entry.urls).map((_, at) => rowProblem(errorOf, 'urls', at));
  return (
    <>
      <TextField
        label={texts.form.name}
        hint={texts.ldap.nameHint}
        value={entry.name}
        onChange={(name) => set({ name })}
        error={errorOf('name')}
      />
      <AreaField
        label={texts.ldap.urls}
        hint={texts.ldap.urlsHint}
        rows={2}
        value={entry.urls}
        onChange={(urls) => set({ urls })}
        error={errorOf('urls') ?? ofUrls.find(Boolean) ?? null}
        isRequired
      />
      <TextField
        label={texts.ldap.bindDn}
        hint={texts.ldap.bindDnHint}
        value={entry.bindDn}
        onChange={(bindDn) => set({ bindDn })}
        error={errorOf('bind_dn')}
        isRequired
      />
      <TextField
        label={texts.ldap.bindPassword}
        hint={hasSecret ? texts.ldap.passwordKept : texts.form.secretHint}
        type="password"
        autoComplete="new-password"
        value={entry.bindPassword}
        onChange={(bindPassword) => set({ bindPassword })}
        error={errorOf('bind_password')}
      />
      <div className={styles.buttons}>
        <Button onClick={() => set(ACTIVE_DIRECTORY)}>{texts.ldap.asActiveDirectory}</Button>
        <Button onClick={() => set(OPEN_LDAP)}>{texts.ldap.asOpenLdap}</Button>
      </div>
      <UserFields entry={entry} set={set} errorOf={errorOf} />
      <GroupFields entry={entry} set={set} errorOf={errorOf} />
      <SelectField
        label={texts.provision}
        value={entry.provision}
        options={[
          ['jit', texts.provisions.jit],
          ['preexisting', texts.provisions.preexisting],
        ]}
        onChange={(provision) => set({ provision })}
        error={errorOf('provision')}
      />
      <AreaField
        label={texts.certificate}
        hint={texts.form.certificateHint}
        value={entry.caCertificate}
        onChange={(caCertificate) => set({ caCertificate })}
        error={errorOf('ca_certificate')}
      />
    </>
  );
}

/** The same settings as ACTIVE_DIRECTORY, with the values of OpenLDAP. */
const OPEN_LDAP = Object.fromEntries(
  Object.keys(ACTIVE_DIRECTORY).map((name) => [name, NEW_LDAP[name as keyof LdapEntry]]),
) as Partial<LdapEntry>;

function UserFields({ entry, set, errorOf }: PartProps) {
  const texts = t.identityProviders.ldap;
  return (
    <GroupField label={texts.users}>
      <TextField
        label={texts.base}
        hint={texts.userBaseHint}
        value={entry.userBase}
        onChange={(userBase) => set({ userBase })}
        error={errorOf('user_base')}
        isRequired
      />
      <TextField
        label={texts.filter}
        hint={texts.userFilterHint}
        value={entry.userFilter}
        onChange={(userFilter) => set({ userFilter })}
        error={errorOf('user_filter')}
      />
      <div className={styles.two}>
        <TextField
          label={texts.username}
          value={entry.usernameAttribute}
          onChange={(usernameAttribute) => set({ usernameAttribute })}
          error={errorOf('username_attribute')}
        />
        <TextField
          label={texts.subject}
          hint={texts.subjectHint}
          value={entry.subjectAttribute}
          onChange={(subjectAttribute) => set({ subjectAttribute })}
          error={errorOf('subject_attribute')}
        />
      </div>
    </GroupField>
  );
}

function GroupFields({ entry, set, errorOf }: PartProps) {
  const texts = t.identityProviders.ldap;
  return (
    <GroupField label={texts.groups}>
      <TextField
        label={texts.base}
        hint={texts.groupBaseHint}
        value={entry.groupBase}
        onChange={(groupBase) => set({ groupBase })}
        error={errorOf('group_base')}
      />
      <TextField
        label={texts.filter}
        hint={texts.groupFilterHint}
        value={entry.groupFilter}
        onChange={(groupFilter) => set({ groupFilter })}
        error={errorOf('group_filter')}
      />
      <TextField
        label={texts.groupName}
        hint={texts.groupNameHint}
        value={entry.groupNameAttribute}
        onChange={(groupNameAttribute) => set({ groupNameAttribute })}
        error={errorOf('group_name_attribute')}
      />
      <Check
        label={texts.nested}
        isChecked={entry.hasNestedGroups}
        onChange={(hasNestedGroups) => set({ hasNestedGroups })}
      />
    </GroupField>
  );
}
