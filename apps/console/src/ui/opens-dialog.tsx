import { type ReactNode, Suspense, useState } from 'react';
import { Button } from './button';

interface OpensDialogProps {
  text: ReactNode;
  /** Renders the dialog with its close function. The dialog's code may be loaded on first use. */
  children: (close: () => void) => ReactNode;
}

/** A button, and the dialog that it opens. */
export function OpensDialog({ text, children }: OpensDialogProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look="main" onClick={() => setOpen(true)}>
        {text}
      </Button>
      {isOpen && <Suspense fallback={null}>{children(() => setOpen(false))}</Suspense>}
    </>
  );
}
