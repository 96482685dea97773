import { useState } from 'react';
import { t } from '../text/text';
import { Button } from './button';

/** Copies a text. `name`: of what is copied, for screen readers where a page has several of these buttons. */
export function CopyButton({ text, name }: { text: string; name?: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <Button
      aria-label={name && !isCopied ? t.copy.named(name) : undefined}
      onClick={() =>
        // Without HTTPS browsers offer no clipboard; the user can still select the text.
        void navigator.clipboard?.writeText(text).then(
          () => setCopied(true),
          () => undefined,
        )
      }
    >
      {isCopied ? t.copy.copied : t.copy.copy}
    </Button>
  );
}
