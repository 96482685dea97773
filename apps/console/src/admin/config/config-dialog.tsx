import { useState } from 'react';
import type { ConfigItem } from '../../api/manager';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FormDialog } from '../../ui/form-dialog';
import { AreaField, SelectField, TextField } from '../../ui/inputs';
import { kindOf, parseValue, type ValueKind, valueText } from './config-value';

/** Changes one configuration value. The schema of the value decides the kind of input. */
export default function ConfigDialog({ item, onClose }: { item: ConfigItem; onClose: () => void }) {
  const kind = kindOf(item);
  const [text, setText] = useState(() => firstText(item, kind));
  const parsed = parseValue(kind, text);
  const change = useChange<unknown>(
    ['config'],
    (client, tenant, value) =>
      client.call('putConfig', { tenant, params: { name: `${item.scope}.${item.name}` }, body: { value } }),
    onClose,
  );
  const fault = 'fault' in parsed && text !== '' ? t.config.errors[parsed.fault] : null;
  return (
    <FormDialog
      title={t.config.editTitle(item.name)}
      submit={t.config.edit}
      mutation={change}
      isIncomplete={'fault' in parsed}
      onSubmit={() => 'value' in parsed && change.mutate(parsed.value)}
      onClose={onClose}
    >
      {(errorOf) => (
        <ValueField
          item={item}
          kind={kind}
          value={text}
          error={fault ?? errorOf('value')}
          onChange={setText}
        />
      )}
    </FormDialog>
  );
}

const firstText = (item: ConfigItem, { kind, choices }: ValueKind): string =>
  kind === 'choice' && item.value === null ? (choices[0] ?? '') : valueText(item.value);

function ValueField({
  item,
  kind: { kind, choices, minimum, maximum },
  ...field
}: {
  item: ConfigItem;
  kind: ValueKind;
  value: string;
  error: string | null;
  onChange: (text: string) => void;
}) {
  const label = t.config.value;
  if (kind === 'choice')
    return (
      <SelectField label={label} options={choices.map((one) => [one, choiceText(one)] as const)} {...field} />
    );
  if (kind === 'json') return <AreaField label={label} rows={6} {...field} />;
  const hint =
    minimum === null
      ? undefined
      : maximum === null
        ? t.config.atLeast(t.number(minimum))
        : t.config.inRange(t.number(minimum), t.number(maximum));
  return (
    <TextField
      label={label}
      hint={hint}
      type={item.admin_only ? 'password' : 'text'}
      inputMode={kind === 'text' ? undefined : 'decimal'}
      {...field}
    />
  );
}

const choiceText = (choice: string): string =>
  choice === 'true' ? t.config.yes : choice === 'false' ? t.config.no : choice;
