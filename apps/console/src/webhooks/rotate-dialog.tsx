/** Makes a new secret of a webhook or trigger, and shows it once. */
import type { Client } from '@baton/client';
import { useState } from 'react';
import { useChange } from '../api/use-change';
import type { Catalogue } from '../text/en';
import { t } from '../text/text';
import { FormDialog } from '../ui/form-dialog';
import { SelectField } from '../ui/inputs';
import { OnceDialog } from '../ui/once-dialog';

interface RotateDialogProps {
  /** Kind of the queries that are read again. */
  kind: string;
  texts: Pick<
    Catalogue['webhooks'],
    'rotateOf' | 'rotateText' | 'rotateSubmit' | 'overlap' | 'made' | 'secret'
  >;
  id: string;
  rotate: (client: Client, overlapS: number) => Promise<{ secret: string }>;
  onClose: () => void;
}

const ONE_DAY_S = '86400';

export default function RotateDialog({ kind, texts, id, rotate, onClose }: RotateDialogProps) {
  const [overlap, setOverlap] = useState(ONE_DAY_S);
  const change = useChange([kind], (client) => rotate(client, Number(overlap)));
  if (change.data)
    return (
      <OnceDialog
        title={texts.made(id)}
        texts={[[texts.secret, change.data.secret]]}
        mutation={change}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title={texts.rotateOf(id)}
      submit={texts.rotateSubmit}
      mutation={change}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <p>{texts.rotateText}</p>
          <SelectField
            label={texts.overlap}
            value={overlap}
            options={t.overlaps}
            onChange={setOverlap}
            error={errorOf('overlap_s')}
          />
        </>
      )}
    </FormDialog>
  );
}
