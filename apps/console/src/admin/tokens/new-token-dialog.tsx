/** Creates a token and shows its secret once. Only this dialog holds the secret; closing the dialog discards it. */
import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FormDialog } from '../../ui/form-dialog';
import { SelectField, TextField } from '../../ui/inputs';
import { OnceDialog } from '../../ui/once-dialog';

interface NewToken {
  description: string;
  lasts: string;
}

const USUAL_LIFETIME = '+30d';

export default function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const [token, setToken] = useState<NewToken>({ description: '', lasts: USUAL_LIFETIME });
  const create = useChange<NewToken, { value: string }>(
    ['tokens'],
    (client, tenant, { description, lasts }) =>
      client.call('createToken', {
        tenant,
        body: { description: description || null, expiration_date: lasts || null },
      }),
  );
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
      title={t.tokens.create}
      submit={t.tokens.create}
      mutation={create}
      onSubmit={() => create.mutate(token)}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <TextField
            label={t.tokens.description}
            error={errorOf('description')}
            value={token.description}
            onChange={(description) => setToken((before) => ({ ...before, description }))}
          />
          <SelectField
            label={t.tokens.lasts}
            error={errorOf('expiration_date')}
            value={token.lasts}
            options={Object.entries(t.tokens.lifetimes)}
            onChange={(lasts) => setToken((before) => ({ ...before, lasts }))}
          />
        </>
      )}
    </FormDialog>
  );
}
