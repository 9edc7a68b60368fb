/** Checks the architecture: the direction of imports, one importer for each npm package, small handlers and bundles. */
import { readFileSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join, matchesGlob, normalize } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildConsole } from '../clients/console/build.ts'
import { functionNames } from '../infra/build.ts'
import { packagedSources } from '../infra/package.ts'
import * as programWords from '../lib/engine/meta/program.ts'
import { MANAGEMENT_GROUP } from '../lib/kinds.ts'
import { kinds } from '../lib/server/servedkinds.ts'
import packageFile from '../package.json' with { type: 'json' }
import { embeddedBundles, packaged } from './support/packaged.ts'

const root = join(import.meta.dirname, '..')

interface Import {
  from: string
  /** A path from the root, or the name of an npm package. */
  to: string
  typeOnly: boolean
  /** `import('…')`, which runs on demand. */
  lazy: boolean
}

const packageImports: Record<string, { default: string }> = packageFile.imports

let sources: Map<string, string>
let imports: Import[]

beforeAll(async () => {
  const files = await Array.fromAsync(
    glob(['lib/**/*.ts', '{events,functions,infra}/**/*.ts', 'clients/*/{,src/**/}*.{ts,tsx}'], { cwd: root }),
  )
  const texts = files
    .sort()
    .map(async (file) => [file, withoutComments(await readFile(join(root, file), 'utf8'))] as const)
  sources = new Map(await Promise.all(texts))
  imports = [...sources].flatMap(([from, text]) => importsOf(from, text))
})

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')

function importsOf(from: string, text: string): Import[] {
  const found = text.matchAll(
    /\b(?:import|export)\s+(type\b)?[^'";]*?\bfrom\s*'([^']+)'|\bimport\(\s*'([^']+)'|\bimport\s*'([^']+)'/g,
  )
  return [...found].map(([, type, named, dynamic, bare]) => {
    // Of modules that depend on a condition, the one that is deployed.
    const name = named ?? dynamic ?? bare ?? ''
    const target = name in packageImports ? (packageImports[name]?.default ?? '') : name
    return {
      from,
      to: name.startsWith('.') ? normalize(join(dirname(from), name)) : normalize(target),
      typeOnly: type !== undefined,
      lazy: dynamic !== undefined,
    }
  })
}

/** Functions that answer from the request alone. They load neither the store nor its client. */
const bare = 'console discovery issuer notfound openapi release customresourcedefinitions/list'.split(' ')

/** The function of the console contains what the console's build makes. */
const isConsole = ({ from, to }: Pick<Import, 'from' | 'to'>) =>
  from === 'infra/made/console.ts' && to === 'clients/console/build.ts'

/** It also contains the npm package of the command line, which is made from its bundle. */
const isCommandLine = ({ from, to }: Pick<Import, 'from' | 'to'>) =>
  from === 'infra/commandlinepackage.ts' && to === 'clients/cli/build.ts'

/** The function of the console contains the pages that it makes, and nothing of it. */
const MAKES_PAGES = 'marked'

/** The most KiB that functions load at start. The first row that matches a name holds. */
const mostAtStart: readonly (readonly [RegExp, number])[] = [
  [/^release$/, 8],
  [/^(console|customresourcedefinitions\/list|discovery|issuer|notfound)$/, 100],
  [/^openapi$/, 194],
  // It starts for each request whose own function starts as well.
  [/^authorizer$/, 339],
  [/^(boundsecrets|bootstrap|oauth2\/revoke|settle)$/, 507],
  [/^lifecycle$/, 530],
  [/^(clusters|ownedaccesskeys|virtualclusterinstances)\/(get|history|usage)$/, 508],
  [/^(clusters|ownedaccesskeys|virtualclusterinstances|namespaces)\/(delete|deletecollection|list)$/, 523],
  // Strangers start this function, so it must start as quickly as others.
  [/^oauth2\/token$/, 578],
  // They judge issuers and the claims of ID tokens.
  [/^(identityproviders|federatedidentitycredentials)\//, 583],
  [/^(garbagecollector|sweep|.*\/kubeconfig\/create)$/, 568],
  [/./, 548],
]

const isPackage = (to: string) => !/^(lib|functions|infra|events|test|clients)\/|^node:/.test(to)
const packageOf = (to: string) =>
  to
    .split('/')
    .slice(0, to.startsWith('@') ? 2 : 1)
    .join('/')
/** Returns the package of a file: a folder of lib (`keys`), or of its engine (`engine/meta`); else the first folder. */
const packageFolderOf = (file: string) => /^(?:lib\/)?((?:engine\/)?[^/]+)/.exec(file)?.[1] ?? ''

/** The packages of the engine, an API in the style of Kubernetes that knows no key, user group, scope or cluster. */
const engine = ['meta', 'outbound', 'storage', 'registry', 'endpoints', 'controllers'].map((name) => `engine/${name}`)

/** The packages of lib, each with the packages that it may import. */
const below: Record<string, readonly string[]> = {
  'engine/meta': [],
  'engine/outbound': ['engine/meta'],
  'engine/storage': ['engine/meta', 'engine/outbound'],
  'engine/registry': ['engine/meta', 'engine/storage'],
  'engine/endpoints': ['engine/meta', 'engine/storage', 'engine/registry'],
  'engine/controllers': ['engine/meta', 'engine/storage', 'engine/registry'],
  // It makes documents when functions are built, and is in none of them.
  'engine/documents': ['engine/meta', 'engine/registry', 'engine/endpoints'],
  'engine/example': [...engine, 'engine/documents'],
  'kinds.ts': [],
  access: [...engine, 'kinds.ts'],
  keys: [...engine, 'kinds.ts', 'access'],
  clusters: [...engine, 'kinds.ts', 'access', 'keys'],
  federation: [...engine, 'kinds.ts', 'access', 'keys', 'clusters'],
  revocation: [...engine, 'kinds.ts', 'access', 'keys', 'clusters', 'federation'],
  reviews: [...engine, 'kinds.ts', 'access', 'keys', 'clusters'],
}

/** The modules of lib that clients may import: they are pure, and run on the oldest Node.js that a client supports. */
const importedByClients = [
  'lib/keys/ownedaccesskey.texts.ts',
  'lib/access/attributes/resourcetext.ts',
  'lib/access/scopes/unrestricted.ts',
  'lib/access/scopes/words.ts',
  'lib/access/advice/scopediff.ts',
  'lib/clusters/cluster/network.ts',
  'lib/clusters/connect/accounts.ts',
  'lib/clusters/connect/clusterfiles.ts',
  'lib/clusters/connect/eksaccess.ts',
  'lib/clusters/connect/recipes.ts',
  'lib/clusters/deployment.ts',
  'lib/engine/meta/encoding/jsonscanner.ts',
  'lib/engine/meta/encoding/yaml.ts',
  'lib/engine/meta/encoding/yamllibrary.ts',
  'lib/engine/meta/types.ts',
  'lib/engine/meta/value/credentialtext.ts',
  'lib/engine/meta/value/durations.ts',
  'lib/engine/meta/value/credentialformat.ts',
]

/** The modules of lib whose types clients may import: the schemas, which say what the objects of the API are. Type imports are erased. */
const isSchema = (file: string) => /^lib\/.*\.schema\.ts$|^lib\/engine\/meta\/schema\/schema\.ts$/.test(file)

/**
 * The folders of a package from the lowest to the highest. A file imports from its own folder and lower ones; `.` is the package's
 * own folder, and `*` stands for folders that know nothing of each other.
 */
const layers: Record<string, readonly string[]> = {
  'lib/engine/meta': [
    ...'. value encoding errors object schema selectors decoding patch structuredmerge'.split(' '),
    ...'managedfields'.split(' '),
  ],
  'lib/engine/storage': ['.', '*'],
  'lib/access': ['attributes', 'scopes', 'users', '.', 'advice'],
  'lib/keys': ['credential', 'history', 'usage', 'values', 'requests', '.', 'events'],
  'lib/federation': ['.', 'oauth', 'exchange'],
  'lib/clusters': ['token', 'cluster', 'certificates', 'eks', 'serviceaccounts', 'connect', '.'],
  'lib/engine/endpoints': ['negotiation', '.', 'discovery', 'lists', 'watches', 'handlers'],
  'lib/server': ['process', 'lambda', 'console', 'documents', '.', 'namespaces', 'oauth', 'leaks'],
  'clients/action/src': ['runner', 'api', 'session', '.'],
  'clients/core/src': ['files', '.', 'words'],
  'clients/cli/src':
    'io arguments output config credentials api kubeconfig rotation run advice connect completion commands/keys commands/objects commands/clusters commands .'.split(
      ' ',
    ),
  'clients/console/src': [
    ...'text api keylist session components/hooks components components/forms components/scope'.split(' '),
    ...'components/getstarted components/revocation pages/key/actions pages/key/rotation pages/key/makers pages/key/usage pages/key/timeline pages/keys/lifetime pages/keys/overview pages/trusts/platforms pages/* shell/palette shell/help shell .'.split(
      ' ',
    ),
  ],
  'infra/local': ['host', 'gateway', 'aws', 'virtualcluster', 'issuer', 'kubeapiserver', '.'],
}

/** Returns the position of a folder in the layers of its package, or -1. */
const layerOf = (order: readonly string[], folder: string): number =>
  order.findIndex((one) => matchesGlob(folder || '.', one))

describe('imports', () => {
  test('are found', () => {
    expect(imports.length).toBeGreaterThan(100)
    const gateway = 'infra/local/gateway'
    const eager = { from: `${gateway}/gateway.ts`, to: `${gateway}/deployment.ts`, typeOnly: false, lazy: false }
    const lazy = {
      from: 'lib/clusters/token/kms.ts',
      to: 'lib/clusters/token/kmsclient.ts',
      typeOnly: false,
      lazy: true,
    }
    expect(imports).toEqual(expect.arrayContaining([eager, lazy]))
  })

  test('are restricted for every folder: the tables list each package of lib and each folder inside a package', () => {
    const unlisted = [...new Set([...sources.keys()].map(dirname))].filter((folder) => {
      if (
        /^(functions(\/.*)?|events|infra|infra\/(documentation|made|release|settings|stack)|lib|clients\/[^/]+)$/.test(
          folder,
        )
      )
        return false
      const [layered] = Object.entries(layers).filter(([name]) => `${folder}/`.startsWith(`${name}/`))
      if (layered) return layerOf(layered[1], folder.slice(layered[0].length + 1)) < 0
      return !/^lib\/(engine\/)?[^/]+$/.test(folder) || !(packageFolderOf(`${folder}/`) in below)
    })
    expect(unlisted).toEqual([])
  })

  test('go downward only', () => {
    const upward = imports.filter(({ from, to }) => {
      if (isPackage(to) || to.startsWith('node:') || packageFolderOf(from) === packageFolderOf(to)) return false
      const own = packageFolderOf(from)
      if (own === 'infra')
        return !/^(lib|clients\/core)\//.test(to) && !isConsole({ from, to }) && !isCommandLine({ from, to })
      // The test below has the rule for clients.
      if (own === 'clients') return false
      if (own === 'events') return !/^(lib|infra)\//.test(to)
      if (own === 'functions')
        return !/^lib\/(\w+\/[\w.]+$|server\/|engine\/endpoints\/(handlers|discovery)\/)/.test(to)
      if (own === 'server') return !to.startsWith('lib/') || to.startsWith('lib/engine/documents/')
      return !below[own]?.includes(packageFolderOf(to))
    })
    expect(upward).toEqual([])
  })

  test.each(Object.entries(layers))('go downward only inside %s', (folder, order) => {
    const below = (file: string) => dirname(file).slice(folder.length + 1)
    const layer = (file: string) => layerOf(order, below(file))
    const inside = (file: string) => file.startsWith(`${folder}/`)
    expect([...sources.keys()].filter((file) => inside(file) && layer(file) < 0)).toEqual([])
    const within = imports.filter(({ from, to }) => inside(from) && inside(to))
    expect(within.filter(({ from, to }) => layer(from) < layer(to))).toEqual([])
    const beside = within.filter(({ from, to }) => layer(from) === layer(to) && below(from) !== below(to))
    expect(beside).toEqual([])
  })

  test('contain no cycle', () => {
    const edges = Map.groupBy(
      imports.filter(({ to }) => sources.has(to)),
      ({ from }) => from,
    )
    const done = new Set<string>()
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) throw new Error([...path.slice(path.indexOf(file)), file].join(' → '))
      if (done.has(file)) return
      for (const { to } of edges.get(file) ?? []) visit(to, [...path, file])
      done.add(file)
    }
    for (const file of sources.keys()) visit(file, [])
  })

  // threat: supply-3
  test('of an npm package have a sole importer', () => {
    const importers: Record<string, (from: string) => boolean> = {
      'js-yaml': (from) => from === 'lib/engine/meta/encoding/yamllibrary.ts',
      'fast-json-patch': (from) => from === 'lib/engine/meta/patch/jsonpatch.ts',
      jose: (from) => from === 'lib/federation/verify.ts',
      '@middy/core': (from) => from === 'lib/server/lambda/runtime.ts',
      '@peculiar/x509': (from) => from === 'lib/clusters/certificates/x509.ts',
      'reflect-metadata': (from) => from === 'lib/clusters/certificates/x509.ts',
    }
    const packages = imports.filter(({ to, from, typeOnly }) => isPackage(to) && from.startsWith('lib/') && !typeOnly)
    const outside = packages.filter(({ from, to }) => importers[packageOf(to)]?.(from) === false)
    expect(outside).toEqual([])
    const unlisted = packages
      .map(({ to }) => packageOf(to))
      .filter((name) => !(name in importers) && !name.startsWith('@aws-sdk/'))
    expect(new Set(unlisted)).toEqual(new Set())
  })

  test('of an AWS client are in one package only', () => {
    const clients = imports.filter(
      ({ from, to, typeOnly }) => /^@aws-sdk\/client-/.test(to) && from.startsWith('lib/') && !typeOnly,
    )
    const users = Map.groupBy(clients, ({ to }) => to)
    expect([...users.keys()].map(packageOf)).toContain('@aws-sdk/client-kms')
    for (const [client, uses] of users) {
      // server/ creates clients and passes them down.
      const packages = new Set(uses.map(({ from }) => packageFolderOf(from)).filter((name) => name !== 'server'))
      expect([client, packages.size]).toEqual([client, 1])
    }
  })

  test('of a driver are where a table is made, opened and repaired, and where its stream arrives', () => {
    const isDriver = (file: string) => /^lib\/engine\/storage\/(?!protocol\/)[^/]+\//.test(file)
    const outside = imports.filter(({ from, to }) => isDriver(to) && !from.startsWith('lib/engine/storage/'))
    expect([...new Set(outside.map(({ from }) => from))]).toEqual([
      'infra/local/table.ts',
      'infra/repair.ts',
      'lib/engine/example/serve.ts',
      'lib/server/controllers.ts',
      'lib/server/openstore.ts',
    ])
  })

  test('of what is deployed are files whose change is packaged, and packages of the bill of materials', () => {
    const isDeployed = (file: string) => /^(functions|infra\/made|clients\/(console|cli)\/src)\//.test(file)
    // Which makes the package of the command line, and is in no function.
    const isBuild = ({ from }: Import) => from === 'infra/commandlinepackage.ts'
    const deployed = new Set([...sources.keys()].filter(isDeployed))
    const packages = new Set<string>()
    // What is added while the loop runs is visited too.
    for (const file of deployed)
      for (const { to } of imports.filter(
        (one) => one.from === file && !one.typeOnly && !isConsole(one) && !isBuild(one),
      )) {
        if (sources.has(to)) deployed.add(to)
        else if (isPackage(to) && !to.startsWith('keyplane:') && to !== MAKES_PAGES) packages.add(packageOf(to))
      }
    const isPackaged = (file: string) => packagedSources.some((pattern) => matchesGlob(file, pattern))
    expect([...deployed].filter((file) => !isPackaged(file))).toEqual([])
    expect(deployed).toContain('clients/core/src/objects.ts')
    expect([...packages].filter((name) => !(name in packageFile.dependencies))).toEqual([])
    expect(packages).toContain('preact')
    const importers = imports.filter(({ to }) => to === MAKES_PAGES).map(({ from }) => from)
    expect(importers).toEqual(['infra/documentation/markdown.ts'])
  })

  test('name the module that defines an export, because no module re-exports', () => {
    const reexporting = [...sources].filter(([, text]) => /^export (type )?(\{[^}]*\}|\*) from '\./m.test(text))
    expect(reexporting.map(([file]) => file)).toEqual([])
  })

  test('of clients name pure modules of lib, types of its schemas, the core and the same client, and no npm package but preact and oauth4webapi in the console', () => {
    const clientOf = (file: string) => file.split('/').slice(0, 2).join('/')
    const isConsole = (file: string) => clientOf(file) === 'clients/console'
    const own = imports.filter(({ from }) => /^clients\/[^/]+\/src\//.test(from))
    const outside = own.filter(({ from, to, typeOnly }) => {
      if (to.startsWith('node:')) return isConsole(from)
      if (isPackage(to)) return !isConsole(from) || !['preact', 'oauth4webapi'].includes(packageOf(to))
      if (typeOnly && isSchema(to)) return false
      return ![clientOf(from), 'clients/core'].includes(clientOf(to)) && !importedByClients.includes(to)
    })
    expect(outside).toEqual([])
  })

  test('are lazy for project modules only, because a lazily imported npm package is bundled whole', () =>
    expect(imports.filter(({ to, from, lazy }) => lazy && isPackage(to) && from.startsWith('lib/'))).toEqual([]))

  // threat: local-5
  test('of lib and functions never include infra, and none include tests', () => {
    expect(imports.filter(({ from, to }) => /^(lib|functions)\//.test(from) && /^(infra|clients)\//.test(to))).toEqual(
      [],
    )
    expect(imports.filter(({ to }) => to.startsWith('test/'))).toEqual([])
  })
})

test('tests of the engine import the engine and test support, except for those that need a kind of the product or its server', async () => {
  const files = await Array.fromAsync(glob('test/lib/engine/**/*.ts', { cwd: root }))
  const product = /from '(?:\.\.\/)+(?:lib\/(?!engine\/)|infra\/|functions\/|clients\/)/
  const using = files.filter((file) => product.test(readFileSync(join(root, file), 'utf8')))
  expect(using.map((file) => file.slice('test/lib/engine/'.length)).sort()).toEqual([
    'controllers/interruptions.test.ts',
    'controllers/world.ts',
    'endpoints/credentialcheck.test.ts',
    'endpoints/deletecollection.test.ts',
    'endpoints/lists/page.test.ts',
    'endpoints/lists/selection.test.ts',
    'endpoints/watch.test.ts',
    'meta/value/credentialtext.test.ts',
    'registry/plan.test.ts',
  ])
})

describe('below the composition', () => {
  const isBelow = (file: string) => file.startsWith('lib/') && !/^lib\/(server|engine\/example)\//.test(file)
  const ambient = ['new Date()', 'Date.now()', 'Math.random', 'process.env', 'performance.now()']

  test.each(ambient)('nothing uses %s', (expression) => {
    const reached = [...sources].filter(([file, text]) => isBelow(file) && text.includes(expression))
    expect(reached.map(([file]) => file)).toEqual([])
  })

  test('nothing generates random values: node:crypto serves hashes and keys only', () => {
    const chance = /import \{[^}]*\b(randomUUID|randomBytes|randomInt|randomFill|webcrypto)\b[^}]*\} from 'node:crypto'/
    const makers = [...sources].filter(([file, text]) => isBelow(file) && chance.test(text))
    expect(makers.map(([file]) => file)).toEqual([])
  })

  // Comments count, because they would tell a reader of the engine about the product.
  test('the engine has no word of the product, except where it says what the program and its credentials are called', async () => {
    const meta = 'lib/engine/meta'
    const said = Object.values(programWords).map((word) => RegExp.escape(word))
    const things = [
      'mpk_',
      'OwnedAccessKey',
      'access key',
      'kube config',
      'scope chain',
      'virtual ?cluster',
      'connected cluster',
    ]
    const federation = ['identity ?provider', 'federat', 'token exchange']
    const words = new RegExp([...said, ...things, ...federation].join('|'), 'i')
    const files = await Array.fromAsync(glob('lib/engine/**/*.ts', { cwd: root }))
    const using = files.filter((file) => words.test(readFileSync(join(root, file), 'utf8')))
    expect(using.sort()).toEqual([
      `${meta}/program.ts`,
      `${meta}/value/credentialformat.ts`,
      `${meta}/value/credentialtext.ts`,
    ])
    expect(programWords.PROGRAM_GROUP).toBe(MANAGEMENT_GROUP)
  })

  test('no shared module names a kind', () => {
    const shared = [...sources].filter(([file]) => /^lib\/(engine|keys\/events)\//.test(file))
    expect(shared.length).toBeGreaterThan(50)
    // `'Cluster'` is also a scope of kinds.
    const naming = kinds.flatMap(({ kind, plural }) =>
      shared
        .filter(([, text]) => new RegExp(`\\b(${kind}|${plural})\\b`).test(text.replaceAll("'Cluster'", '')))
        .map(([file]) => `${file}: ${kind}`),
    )
    expect(naming).toEqual([])
  })
})

test('no path is the pathname of a URL, which encodes spaces and letters beyond ASCII', async () => {
  const files = await Array.fromAsync(
    glob('{.ci,events,lib,functions,infra,test,clients}/**/*.{ts,tsx,cjs}', { cwd: root }),
  )
  expect(files).toContain('test/vitest.config.ts')
  const url = String.raw`new URL\([^()]*import\.meta\.url\)`
  const wrong = files.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const names = [...text.matchAll(new RegExp(`(\\w+) = ${url}`, 'g'))].map(([, name]) => name)
    return [url, ...names].some((one) => new RegExp(`${one}\\.pathname`).test(text))
  })
  expect(wrong).toEqual([])
})

describe('size', () => {
  test('a handler has at most 8 lines', () => {
    const long = [...sources].filter(
      ([file, text]) => file.startsWith('functions/') && text.trim().split('\n').length > 8,
    )
    expect(long.map(([file]) => file)).toEqual([])
  })

  test('a module has at most 500 lines of code', () => {
    const codeLines = (text: string) => text.split('\n').filter((line) => line.trim() !== '').length
    const long = [...sources].filter(([file, text]) => !file.endsWith('.schema.ts') && codeLines(text) > 500)
    expect(long.map(([file]) => file)).toEqual([])
  })

  test('no file has a vague name', () => {
    const vague = [...sources.keys()].filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\.ts|\/)/.test(file))
    expect(vague).toEqual([])
  })

  test('a function loads at start the npm packages that all its requests need, and the others with the first that needs them', async () => {
    const byFile = Map.groupBy(imports, ({ from }) => from)
    const closure = (file: string, found = new Set<string>()): Set<string> => {
      if (found.has(file)) return found
      found.add(file)
      for (const { to, typeOnly, lazy } of byFile.get(file) ?? []) if (!typeOnly && !lazy) closure(to, found)
      return found
    }
    const names = await functionNames(root)
    const loaded = names.flatMap((name) => {
      const packages = [...closure(`functions/${name}.ts`)].filter((to) => isPackage(to) && !to.startsWith('keyplane:'))
      return [...new Set(packages.map(packageOf))].map((used) => ({ used, name }))
    })
    const users = Map.groupBy(loaded, ({ used }) => used)
    const withStore = names.filter((name) => !bare.includes(name))
    // What no request of the API reaches, and the two endpoints of OAuth, have no middleware.
    const withoutMiddy =
      /^(authorizer|bootstrap|boundsecrets|garbagecollector|leaks|lifecycle|release|settle|sweep)$|^oauth2\//
    expect(Object.fromEntries([...users].map(([used, all]) => [used, all.map(({ name }) => name)]))).toEqual({
      '@aws-sdk/client-dynamodb': withStore,
      '@aws-sdk/core': withStore,
      '@middy/core': names.filter((name) => !withoutMiddy.test(name)),
      jose: ['oauth2/token'],
    })
  })

  test('deployed functions have the clients of AWS only, and those of the local server what is in their process', async () => {
    const [{ bundles }, embedded] = await Promise.all([packaged(), embeddedBundles()])
    const textOf = async (folder: string) => {
      const files = await Array.fromAsync(glob('{functions,chunks}/**/*.mjs', { cwd: folder }))
      return (await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))).join('')
    }
    const clients = ['TransactWriteItems', 'TrentService', 'com.amazonaws.secretsmanager', 'AWSEvents']
    const inProcess = 'this process provides no'
    const marks = [...clients, inProcess, 'node:sqlite']
    const having = (text: string) => marks.filter((mark) => text.includes(mark))
    expect([having(await textOf(bundles)), having(await textOf(embedded))]).toEqual([clients, [inProcess]])
  })

  test('the code that a function loads at start stays below its size limit', async () => {
    const { bundles } = await packaged()
    const initial = async (path: string, seen = new Set<string>()): Promise<number> => {
      if (seen.has(path)) return 0
      seen.add(path)
      const text = await readFile(path, 'utf8')
      // The function of the console contains scripts of browsers (.js), which import others as well.
      const parts = [...text.matchAll(/\b(?:from|import)"(\.[^"]+\.mjs)"/g)].map(([, part]) =>
        join(dirname(path), part ?? ''),
      )
      let size = Buffer.byteLength(text)
      for (const part of parts) size += await initial(part, seen)
      return size
    }
    // The function of the console holds its files, whose size has limits of its own.
    const files = (await buildConsole()).reduce((sum, { text }) => sum + Buffer.byteLength(JSON.stringify(text)), 0)
    const tooLarge: string[] = []
    for (const name of await functionNames(root)) {
      const size = await initial(join(bundles, 'functions', `${name}.mjs`))
      const own = Math.ceil((name === 'console' ? size - files : size) / 1024)
      const most = mostAtStart.find(([pattern]) => pattern.test(name))?.[1] ?? 0
      if (own > most) tooLarge.push(`${name}: ${own} KiB of ${most}`)
      // A smaller size means that parts were not found: the SDK alone is larger.
      if (name === 'authorizer') expect(own).toBeGreaterThan(150)
    }
    expect(tooLarge).toEqual([])
  })
})
