declare module 'unbzip2-stream' {
  /** Decompresses bzip2. */
  function unbzip2(): NodeJS.ReadWriteStream;
  export = unbzip2;
}
