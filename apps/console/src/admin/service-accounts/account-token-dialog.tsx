/** Makes a token of a service account and shows it once. */
import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FormDialog } from '../../ui/form-dialog';
import { SelectField, TextField } from '../../ui/inputs';
import { OnceDialog } from '../../ui/once-dialog';
import { createAccountToken } from './service-accounts';

const USUAL_LIFETIME = '+30d';
/** Every token of a service account ends. */
const LIFETIMES = Object.entries(t.tokens.lifetimes).filter(([lasts]) => lasts !== '');

export default function AccountTokenDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [token, setToken] = useState({ description: '', expiration_date: USUAL_LIFETIME });
  const create = useChange(['tokens'], (client, tenant) => createAccountToken(client, tenant, name, token));
  if (create.data)
    return (
      <OnceDialog
        title={t.tokens.made}
        texts={[[t.tokens.value, create.data.value]]}
        mutation={create}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title={t.serviceAccounts.tokenOf(name)}
      submit={t.tokens.create}
      mutation={create}
      onSubmit={() => create.mutate()}
      onClose={onClose}
      isIncomplete={token.description.trim() === ''}
    >
      {(errorOf) => (
        <>
          <TextField
            label={t.tokens.description}
            value={token.description}
            onChange={(description) => setToken({ ...token, description })}
            error={errorOf('description')}
            isRequired
          />
          <SelectField
            label={t.tokens.lasts}
            value={token.expiration_date}
            options={LIFETIMES}
            onChange={(lasts) => setToken({ ...token, expiration_date: lasts })}
            error={errorOf('expiration_date')}
          />
        </>
      )}
    </FormDialog>
  );
}
