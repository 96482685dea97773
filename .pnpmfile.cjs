// Changes what packages ask for, before pnpm resolves them. Part of the lock file (pnpmfileChecksum).

/** Of the program `prisma` only `generate` is used: no studio, no local server, no drivers of other databases (150 MB less). */
const UNUSED = ['@prisma/dev', '@prisma/studio-core', 'mysql2', 'postgres'];

function readPackage(found) {
  if (found.name === 'prisma') for (const name of UNUSED) delete found.dependencies[name];
  // Its optional peers are the generator and the compiler: else they would belong to what is shipped.
  if (found.name === '@prisma/client') {
    found.peerDependencies = {};
    found.peerDependenciesMeta = {};
  }
  // Its native parts are faster ciphers; plugins hold JavaScript only.
  if (found.name === 'ssh2') found.optionalDependencies = {};
  return found;
}

module.exports = { hooks: { readPackage } };
