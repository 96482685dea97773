import { Readable } from 'node:stream';
import { isAppError } from '@baton/kernel';
import { testS3 } from '@baton/testkit';
import { describeBlobStore } from './blob-store.contract';
import { createS3BlobStore } from './s3-blob-store';

const open = async () => {
  const server = await testS3();
  const { endpoint, bucket } = server;
  const store = createS3BlobStore({
    endpoint,
    bucket,
    region: 'local',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
  });
  return { server, store, close: server.close };
};

describeBlobStore('S3 blob store', open);

test('repeats what the service refuses for a moment, with the whole content, and gives up with a retryable error', async () => {
  const { server, store, close } = await open();
  server.failNext(2, 503);
  const { digest } = await store.put(Readable.from(['again and again']));
  expect(server.objects.get(`blobs/${digest}`)?.content.toString()).toBe('again and again');
  server.failNext(3, 500);
  const error = await store.stat(digest).catch((e) => e);
  expect(isAppError(error, 'service_unavailable_error')).toBe(true);
  expect(error.entry.retryable).toBe(true);
  await close();
});

test('wrong credentials or bucket are an error, not an absent blob', async () => {
  const { server, close } = await open();
  const store = createS3BlobStore({
    endpoint: server.endpoint,
    bucket: 'other',
    region: 'local',
    accessKeyId: 'k',
    secretAccessKey: 's',
  });
  await expect(store.put(Readable.from(['x']))).rejects.toThrow('status 404');
  await expect(store.ping()).rejects.toThrow('status 404');
  await close();
});
