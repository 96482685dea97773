/** Uploads a blueprint from a file or a URL. The blueprint's screen shows the errors that the manager finds. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTenant } from '../api/api-context';
import { blueprintKeys, uploadBlueprint } from '../api/blueprints';
import { createOwnClient } from '../api/client';
import { progressFetch } from '../api/progress-fetch';
import { bytesText } from '../text/bytes';
import { t } from '../text/text';
import { Field } from '../ui/field';
import { FileDrop } from '../ui/file-drop';
import { FormDialog } from '../ui/form-dialog';
import { TextField } from '../ui/inputs';
import { type Visibility, VisibilityField } from '../ui/visibility';
import { idOfFileName } from './blueprint-id';
import styles from './upload-dialog.module.css';

const ARCHIVES = '.zip,.tar,.gz,.tgz,.bz2,.tbz2';
const SOURCES = ['file', 'url'] as const;

interface Sent {
  sentBytes: number;
  totalBytes: number;
}

export default function UploadDialog({ onClose }: { onClose: () => void }) {
  const [source, setSource] = useState<(typeof SOURCES)[number]>('file');
  const [file, setFile] = useState<File | null>(null);
  const [url, setUrl] = useState('');
  const [id, setId] = useState('');
  const [mainFile, setMainFile] = useState('');
  const [visibility, setVisibility] = useState<Visibility>('tenant');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const { send, sent, stop } = useUpload();
  const archive = source === 'file' ? file : url.trim();
  const submit = (): void => {
    const isBad = source === 'url' && !/^https?:\/\//i.test(url.trim());
    setErrors(isBad ? { blueprint_archive_url: t.upload.errors.url } : {});
    if (!isBad && archive) send.mutate({ id: id.trim(), archive, mainFile: mainFile.trim(), visibility });
  };
  const suggest = (name: string): void => setId((now) => now || idOfFileName(name));
  return (
    <FormDialog
      title={t.upload.title}
      submit={t.upload.submit}
      mutation={send}
      errors={errors}
      isIncomplete={!archive || id.trim() === ''}
      onSubmit={submit}
      onClose={() => {
        stop();
        onClose();
      }}
    >
      {(errorOf) => (
        <>
          <SourceChoice source={source} onChange={setSource} />
          {source === 'file' ? (
            <Field label={t.upload.file} hint={t.upload.fileHint} error={errorOf('archive')}>
              {(ids) => (
                <FileDrop
                  ids={ids}
                  file={file}
                  accept={ARCHIVES}
                  isDisabled={send.isPending}
                  onFile={(next) => {
                    setFile(next);
                    suggest(next.name);
                  }}
                />
              )}
            </Field>
          ) : (
            <TextField
              label={t.upload.url}
              hint={t.upload.urlHint}
              error={errorOf('blueprint_archive_url')}
              type="url"
              isRequired
              value={url}
              onChange={setUrl}
            />
          )}
          <TextField
            label={t.upload.id}
            hint={t.upload.idHint}
            error={errorOf('id') ?? errorOf('blueprint_id')}
            isRequired
            value={id}
            onChange={setId}
          />
          <TextField
            label={t.upload.mainFile}
            hint={t.upload.mainFileHint}
            error={errorOf('application_file_name')}
            value={mainFile}
            onChange={setMainFile}
          />
          <VisibilityField value={visibility} error={errorOf('visibility')} onChange={setVisibility} />
          {send.isPending && <Sending sent={sent} />}
        </>
      )}
    </FormDialog>
  );
}

/** Runs one upload at a time. It opens the screen of the blueprint at the end, and is aborted when the dialog closes. */
function useUpload() {
  const tenant = useTenant();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [sent, setSent] = useState<Sent | null>(null);
  const stopper = useRef<AbortController | null>(null);
  const stop = (): void => stopper.current?.abort();
  useEffect(() => () => stopper.current?.abort(), []);
  const send = useMutation({
    mutationFn: (blueprint: Parameters<typeof uploadBlueprint>[2]) => {
      const client = createOwnClient({
        send: progressFetch((sentBytes, totalBytes) => setSent({ sentBytes, totalBytes })),
      });
      stopper.current = new AbortController();
      return uploadBlueprint(client, tenant, blueprint, stopper.current.signal);
    },
    onSuccess: async (_answer, { id }) => {
      cache.removeQueries({ queryKey: blueprintKeys.one(tenant, id) });
      void cache.invalidateQueries({ queryKey: blueprintKeys.lists(tenant) });
      await navigate({ to: '/$tenant/blueprints/$id/$tab', params: { tenant, id, tab: 'overview' } });
    },
  });
  return { send, sent, stop };
}

function SourceChoice({
  source,
  onChange,
}: {
  source: (typeof SOURCES)[number];
  onChange: (source: (typeof SOURCES)[number]) => void;
}) {
  return (
    <fieldset className={styles.choice}>
      <legend>{t.upload.source}</legend>
      {SOURCES.map((one) => (
        <label key={one}>
          <input type="radio" name="source" checked={source === one} onChange={() => onChange(one)} />
          {one === 'file' ? t.upload.fromFile : t.upload.fromUrl}
        </label>
      ))}
    </fieldset>
  );
}

function Sending({ sent }: { sent: Sent | null }) {
  const isSent = sent === null || sent.sentBytes >= sent.totalBytes;
  return (
    <div role="status">
      <progress
        className={styles.progress}
        aria-label={t.upload.progress}
        max={sent?.totalBytes || undefined}
        value={isSent ? undefined : sent.sentBytes}
      />
      <p>
        {isSent ? t.upload.waits : t.upload.sending(bytesText(sent.sentBytes), bytesText(sent.totalBytes))}
      </p>
    </div>
  );
}
