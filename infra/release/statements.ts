/** Writes what accompanies the files of a release: their checksums, their components and their provenance. */

/** SHA-256 digests in hexadecimal by the names of files. */
export type Digests = ReadonlyMap<string, string>

/** Returns the checksums as `sha256sum --check` reads them. */
export const checksums = (digests: Digests): string =>
  [...digests].map(([name, digest]) => `${digest}  ${name}\n`).join('')

export interface Lock {
  packages: Readonly<Record<string, LockedPackage>>
}

interface LockedPackage {
  version?: string
  integrity?: string
  license?: string
  dev?: boolean
  optional?: boolean
  devOptional?: boolean
}

/**
 * Returns the bill of materials of the packages that functions may contain (CycloneDX 1.6), from package-lock.json. `npm sbom
 * --omit dev` leaves out packages that development needs as well, such as jose.
 */
export function billOfMaterials({ packages }: Lock, version: string): string {
  const components = Object.entries(packages).flatMap(([path, { dev, optional, devOptional, ...locked }]) => {
    if (!path.startsWith('node_modules/') || dev || optional || devOptional) return []
    return locked.version === undefined ? [] : [componentOf(path.replace(/^.*node_modules\//, ''), locked)]
  })
  const byReference = new Map(components.map((component) => [component['bom-ref'], component]))
  return json({
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': 'keyplane', name: 'keyplane', version } },
    components: [...byReference.values()].sort((one, other) => (one.purl < other.purl ? -1 : 1)),
  })
}

function componentOf(name: string, { version, integrity = '', license }: LockedPackage) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const [, digest] = /^sha512-(\S+)$/.exec(integrity) ?? []
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(digest && { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
    ...(license && { licenses: [{ expression: license }] }),
  }
}

export interface Source {
  /** The commit; undefined: not known. */
  commit?: string | undefined
  /** Digest of package-lock.json, which names every dependency with its own. */
  lock: string
  version: string
  node: string
}

/**
 * Returns the provenance of the files: an in-toto Statement v1 whose predicate is SLSA Provenance v1. It is not signed, and says
 * nothing about a run: whoever builds a release signs the statement (docs/deploying.md).
 * Sources: in-toto-attestation/spec/v1/statement.md and slsa.dev/spec/v1.0/provenance.
 */
export function provenance(digests: Digests, { commit, lock, version, node }: Source): string {
  const source = commit && { name: 'keyplane', digest: { gitCommit: commit } }
  return json({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...digests].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:keyplane:release:v1',
        externalParameters: { version, ...(source && { source }) },
        internalParameters: { command: 'npm run release', node },
        resolvedDependencies: [...(source ? [source] : []), { name: 'package-lock.json', digest: { sha256: lock } }],
      },
      runDetails: { builder: { id: 'urn:keyplane:release:unsigned' } },
    },
  })
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
