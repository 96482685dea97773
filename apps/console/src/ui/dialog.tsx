/** A modal dialog. Loaded with the screens that use it: React Aria is not part of the shell's bundle. */
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { t } from '../text/text';
import { Button } from './button';
import styles from './dialog.module.css';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Buttons at the bottom. */
  actions?: ReactNode;
  /** For a question that a click outside must not dismiss. */
  isAlert?: boolean;
  /** A click outside does not close the dialog, because typed text would be lost. */
  isKept?: boolean;
}

export function Dialog({ title, onClose, children, actions, isAlert = false, isKept = false }: DialogProps) {
  return (
    <ModalOverlay
      isOpen
      isDismissable={!isAlert && !isKept}
      className={styles.overlay}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Modal className={styles.modal}>
        <AriaDialog className={styles.dialog} role={isAlert ? 'alertdialog' : 'dialog'}>
          <header className={styles.head}>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <Button look="icon" aria-label={t.close} onClick={onClose}>
              <X size={18} aria-hidden="true" />
            </Button>
          </header>
          <div className={styles.body}>{children}</div>
          {actions && <footer className={styles.foot}>{actions}</footer>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
