import { FileArchive } from 'lucide-react';
import { useRef, useState } from 'react';
import { bytesText } from '../text/bytes';
import { t } from '../text/text';
import { Button } from './button';
import type { FieldIds } from './field';
import styles from './file-drop.module.css';

interface FileDropProps {
  /** Of the field that this is the control of. */
  ids: FieldIds;
  file: File | null;
  accept: string;
  isDisabled?: boolean;
  onFile: (file: File) => void;
}

/** Selects a local file: by drag and drop, or with a button, which is also the way by keyboard. */
export function FileDrop({ ids, file, accept, isDisabled = false, onFile }: FileDropProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null): void => {
    const first = files?.[0];
    if (first && !isDisabled) onFile(first);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping needs a pointer; the button beside it needs none.
    <div
      className={`${styles.drop} ${isOver ? styles.over : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer.files);
      }}
    >
      <FileArchive size={20} aria-hidden="true" />
      <span className={file ? styles.name : styles.quiet}>
        {file ? t.upload.chosen(file.name, bytesText(file.size)) : t.upload.drop}
      </span>
      <Button {...ids} disabled={isDisabled} onClick={() => input.current?.click()}>
        {t.upload.choose}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        accept={accept}
        onChange={(event) => {
          take(event.currentTarget.files);
          // Allows to choose the same file again.
          event.currentTarget.value = '';
        }}
      />
    </div>
  );
}
