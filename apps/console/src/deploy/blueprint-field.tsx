import { useState } from 'react';
import { PickInput } from '../forms/pick-input';
import { t } from '../text/text';
import { controlClass, Field } from '../ui/field';

const REQUEST = {
  picked: 'blueprint_id',
  constraints: [],
  place: {},
  inputValue: () => undefined,
} as const;

interface BlueprintFieldProps {
  chosen: string;
  onChoose: (id: string) => void;
  hint?: string;
}

/** Chooses a blueprint. A text counts as chosen when it is taken from the list, on Enter, and when the field loses the focus. */
export function BlueprintField({ chosen, onChoose, hint = t.deploy.blueprintHint }: BlueprintFieldProps) {
  const [text, setText] = useState(chosen);
  const done = (): void => {
    if (text.trim() !== chosen) onChoose(text.trim());
  };
  return (
    <Field label={t.deploy.blueprint} hint={hint} isRequired>
      {(ids) => (
        <PickInput
          {...ids}
          className={controlClass}
          request={REQUEST}
          text={text}
          onChange={setText}
          onTake={onChoose}
          onBlur={done}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            done();
          }}
        />
      )}
    </Field>
  );
}
