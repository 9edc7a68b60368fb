/** `keyplane kubeconfig`: writes kube configs for kubectl and other clients. */
import { resolve } from 'node:path'
import { dumpYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import type { Cluster } from '../../../core/src/objects.ts'
import { EXEC_APIS, isExecApi } from '../../../core/src/plugin.ts'
import { projectIn } from '../../../core/src/projects.ts'
import { shellWords } from '../../../core/src/shellwords.ts'
import { ALL, clusterTargets } from '../api/audience.ts'
import { asCluster, clusterPath } from '../api/clusters.ts'
import { listInstances } from '../api/instances.ts'
import { listAll } from '../api/lists.ts'
import { inParallel } from '../api/parallel.ts'
import { projectPrefix } from '../api/projects.ts'
import { lockedWords, seesAllKeys } from '../api/reviewers.ts'
import { readSelf } from '../api/self.ts'
import { authorityIn, openSession } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { checkProject, connectedCluster, type Target } from '../api/target.ts'
import { command, type Values } from '../arguments/command.ts'
import { lifetime } from '../arguments/durations.ts'
import { outputFile, regularFile, replaceFile } from '../config/outputfile.ts'
import { NO_KUBECONFIG } from '../config/paths.ts'
import { demandWritable } from '../config/privatefile.ts'
import { CliError, UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import {
  clusterEntry,
  exchangedEntries,
  type Making,
  managementEntry,
  registered,
  virtualClusterEntry,
  WAYS,
  type Way,
} from '../kubeconfig/clusterentries.ts'
import { type Entry, emptyConfig } from '../kubeconfig/entries.ts'
import { kubeConfigFiles, mergeEntries } from '../kubeconfig/files.ts'
import { freeName, withEntry } from '../kubeconfig/merge.ts'
import { warnUnlessOnPath } from '../kubeconfig/pluginpath.ts'
import { note, warn } from '../output/messages.ts'

const options = {
  project: { type: 'string', value: 'PROJECT', help: 'all virtual clusters of this project that you may see' },
  all: { type: 'boolean', help: 'all virtual and connected clusters that you may use' },
  cluster: { type: 'string', value: 'CLUSTER', help: 'a connected cluster' },
  server: {
    type: 'string',
    value: 'URL',
    help: 'address of the connected cluster',
    default: 'that of its object, which "keyplane clusters show" prints',
  },
  'certificate-authority': {
    type: 'string',
    value: 'FILE',
    help: 'with --server, certificate authority of the connected cluster, in PEM',
    default: 'those of this machine',
  },
  with: {
    type: 'string',
    value: 'exec|curl|token|cert',
    help: 'where the client gets its credential from',
    default: 'exec',
  },
  'exec-api': {
    type: 'string',
    value: 'v1|v1beta1',
    help: 'version of client.authentication.k8s.io in which the plugin is named; v1beta1 for lightkube, pykube-ng, rakkess and kubectl before 1.22',
    default: 'v1',
  },
  ttl: { type: 'string', value: 'DURATION', help: 'lifetime of the credential of --with token or cert', default: '1d' },
  output: {
    type: 'string',
    value: 'FILE',
    help: 'write this file, which only you can read',
    default: 'standard output',
  },
  merge: { type: 'boolean', help: 'add to the kube config that kubectl uses, in KUBECONFIG or ~/.kube/config' },
  use: { type: 'boolean', help: 'with --merge, make the new context the current one, as it is in a new file' },
} as const

export const kubeconfig = command({
  name: ['kubeconfig'],
  summary: 'Write a kube config for virtual clusters, a connected cluster, or the management API',
  description:
    'With --with exec, the kube config contains no secret: kubectl runs "keyplane credential" for tokens that live 15 minutes. With curl, kubectl runs ' +
    'curl, which reads the access key from a file beside the kube config. With token or cert, the kube config contains the credential.\n\n' +
    'With an ID token in place of a key, one request gets the tokens of all clusters that the arguments name, with --with token and without --ttl, and of several with exec: then each user of the kube config names all of them, and the first call of kubectl finds its token. ' +
    '"*" stands for the connected clusters that the trust names.\n\n' +
    'Without an argument and a selection, the kube config is for the management API itself. --merge does not change any other byte of the file; ' +
    'a second run changes only the entries of the first.',
  positionals: [
    {
      name: 'CLUSTER',
      help: 'connected cluster, such as west, or virtual cluster, such as shop/dev',
      optional: true,
      multiple: true,
      names: 'all-clusters',
    },
  ],
  options,
  examples: [
    { does: 'Use a virtual cluster with kubectl', run: 'keyplane kubeconfig shop/dev --merge --use' },
    { does: 'Add connected clusters', run: 'keyplane kubeconfig west east --merge' },
    {
      does: 'Let a job with an ID token use all connected clusters that its trust names',
      run: 'keyplane kubeconfig "*" --with token --output job.kubeconfig',
    },
    { does: 'Add everything that you may use', run: 'keyplane kubeconfig --all --merge' },
    {
      does: 'Write a file for a job that lasts two hours',
      run: 'keyplane kubeconfig shop/dev --with token --ttl 2h --output job.kubeconfig',
    },
    {
      does: 'Add a connected cluster that has no object here',
      run: 'keyplane kubeconfig --cluster west --server https://west.example.com --certificate-authority west-ca.crt --merge',
    },
  ],
  async run({ values, positionals }, io) {
    checkUsage(values, positionals)
    const { merge, use, context } = values
    const given = values.output as string | undefined
    const output = given === undefined ? undefined : await outputFile(given)
    const file = merge ? kubeConfigFiles(io.env)[0] : output
    if (merge)
      for (const one of kubeConfigFiles(io.env))
        await demandWritable(await regularFile(one, NO_KUBECONFIG), NO_KUBECONFIG)
    const way = values.with ?? 'exec'
    if (!isWay(way)) throw new UsageError(`--with must be one of ${WAYS.join(', ')}, not "${way}".`)
    const isStatic = way === 'token' || way === 'cert'
    if (values.ttl !== undefined && !isStatic) throw new UsageError('--ttl is for --with token and --with cert.')
    const execApi = values['exec-api']
    if (execApi !== undefined && !isExecApi(execApi))
      throw new UsageError(`--exec-api must be one of ${EXEC_APIS.join(', ')}, not "${execApi}".`)
    if (execApi !== undefined && isStatic) throw new UsageError('--exec-api is for --with exec and --with curl.')
    const life = values.ttl === undefined ? undefined : lifetime(values.ttl, '--ttl')
    const session = await openSession(io, { context })
    const making = { io, session, way, life, file: file === undefined ? undefined : resolve(file), execApi }
    const entries = await selected(making, values, positionals)
    if (merge) await mergeAndTell(io, entries, use)
    else await write(io, entries, output)
    if (way === 'exec') await warnUnlessOnPath(io)
  },
})

const isWay = (text: string): text is Way => (WAYS as readonly string[]).includes(text)

function checkUsage(values: Values<typeof options>, positionals: readonly string[]): void {
  const { project, all, cluster, server, merge, use } = values
  const selections = [positionals.length > 0, project !== undefined, all, cluster !== undefined].filter(Boolean)
  if (selections.length > 1) {
    throw new UsageError('CLUSTER, --project, --all and --cluster exclude each other.')
  }
  if (cluster === undefined && server !== undefined) throw new UsageError('--server is for --cluster.')
  if (server === undefined && values['certificate-authority'] !== undefined)
    throw new UsageError('--certificate-authority is for --server.')
  if (merge && values.output !== undefined) throw new UsageError('--merge and --output exclude each other.')
  if (use && (!merge || project !== undefined || all || positionals.length > 1))
    throw new UsageError('--use is for --merge of one cluster.')
}

async function selected(
  making: Making,
  values: Values<typeof options>,
  positionals: readonly string[],
): Promise<Entry[]> {
  const { project, all, cluster, server, 'certificate-authority': authority } = values
  const named = cluster === undefined ? positionals : server === undefined ? [cluster] : []
  if (named.length > 0) return namedEntries(making, clusterTargets(named))
  if (all || project !== undefined) {
    if (project !== undefined) checkProject(project)
    const entries = project === undefined ? await entriesOfAll(making) : await entriesOfInstances(making, project)
    if (entries.length > 0) return entries
    throw new CliError(`There is no ${project === undefined ? 'cluster' : 'virtual cluster'} that you may use.`)
  }
  if (cluster === undefined) return [await managementEntry(making)]
  const content: JsonObject = { server: httpsUrl(server ?? '') }
  if (authority !== undefined) content['certificate-authority-data'] = await authorityIn(authority)
  return [await clusterEntry(making, connectedCluster(cluster), { cluster: content, form: 'token' })]
}

/** Returns the entries of the targets. An ID token that was not exchanged for a key gives their tokens with one request. */
async function namedEntries(making: Making, targets: ReturnType<typeof clusterTargets>): Promise<Entry[]> {
  const { session, way, life } = making
  const { exchange } = session
  if (targets === ALL && exchange === undefined)
    throw new UsageError('"*" needs an ID token: it stands for what its trust names.', 'Use --all with an access key.')
  const isSeveral = targets === ALL || targets.length > 1
  const isDirect = life === undefined && (way === 'token' || (way === 'exec' && isSeveral))
  const direct = exchange && isDirect ? await exchangedEntries(making, exchange, targets) : undefined
  if (direct !== undefined) return direct
  if (targets === ALL) return entriesOfClusters(making)
  await warnOfLocked(
    making,
    targets.filter(({ kind }) => kind === 'cluster').map(({ name }) => name),
  )
  return inParallel(targets, (target) =>
    target.kind === 'cluster' ? clusterEntry(making, target) : virtualClusterEntry(making, target),
  )
}

/** Says which of the clusters refuse everybody, to those who see why. */
async function warnOfLocked({ io, session }: Making, clusters: readonly string[]): Promise<void> {
  if (clusters.length === 0 || session.exchange !== undefined) return
  const { status } = await readSelf(session)
  if (!seesAllKeys(status)) return
  const locked = await inParallel(clusters, (name) => lockedWords(session, name))
  for (const words of locked) if (words !== undefined) warn(io, words)
}

function httpsUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text
  throw new UsageError(`--server must be a URL that begins with https://, not "${text}".`)
}

/** Returns the entries of all clusters that the key may use. Which kind it may not list it leaves out, with a note; both are an error. */
async function entriesOfAll(making: Making): Promise<Entry[]> {
  const [instances, clusters] = await Promise.allSettled([entriesOfInstances(making), entriesOfClusters(making)])
  if (instances.status === 'rejected' && clusters.status === 'rejected') throw instances.reason
  return [
    ...foundOf(making.io, instances, 'the virtual clusters'),
    ...foundOf(making.io, clusters, 'the connected clusters'),
  ]
}

function foundOf(io: Io, result: PromiseSettledResult<Entry[]>, what: string): Entry[] {
  if (result.status === 'fulfilled') return result.value
  noteLeftOut(io, what, result.reason)
  return []
}

/** Says what is left out because the server refused it. Throws any other error. */
function noteLeftOut(io: Io, what: string, error: unknown): void {
  if (!(error instanceof StatusError) || error.unavailable || error.code === 401) throw error
  note(io, `Left out ${what}: ${error.message.split('\n')[0]}`)
}

/** Returns the entries of the connected clusters that the key may use. Their objects have the addresses. */
async function entriesOfClusters(making: Making): Promise<Entry[]> {
  // Only virtual clusters sign certificates.
  if (making.way === 'cert') return []
  const usable = (await visibleClusters(making)).filter((cluster) => {
    if (cluster.status?.canUse) return true
    note(making.io, `Left out ${cluster.metadata.name}: you may see it, but create no kube config of it.`)
    return false
  })
  return inParallel(usable, (cluster) =>
    clusterEntry(making, connectedCluster(cluster.metadata.name), registered(cluster)),
  )
}

/** Returns the connected clusters that the key may see. A scope that names clusters allows these, but no list. */
async function visibleClusters({ io, session }: Making): Promise<Cluster[]> {
  try {
    return (await listAll(session, clusterPath())).items.map(asCluster)
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 403) throw error
    const { clusters = [] } = (await readSelf(session)).status.accessKeyScope ?? {}
    const names = clusters.flatMap(({ cluster = '*' }) => (cluster === '*' ? [] : [cluster]))
    if (names.length === 0) throw error
    const found = await inParallel([...new Set(names)], async (name) => {
      try {
        return asCluster(await session.get(clusterPath(name)))
      } catch (refused) {
        noteLeftOut(io, name, refused)
        return undefined
      }
    })
    return found.filter((cluster) => cluster !== undefined)
  }
}

/** Returns the entries of the virtual clusters that the key may use. Leaves out the others, with a note for each. */
async function entriesOfInstances(making: Making, project?: string): Promise<Entry[]> {
  const { io, session } = making
  const instances = await listInstances(session, project)
  const prefix = await projectPrefix(session)
  const entries = await inParallel(instances, async ({ name, namespace }) => {
    const project = projectIn(namespace, prefix)
    if (project === undefined) {
      note(io, `Left out ${name} in namespace ${namespace}, which is not that of a project.`)
      return undefined
    }
    const target: Target = { kind: 'virtualCluster', project, name }
    try {
      return await virtualClusterEntry(making, target)
    } catch (error) {
      noteLeftOut(io, `${target.project}/${name}`, error)
      return undefined
    }
  })
  return entries.filter((entry) => entry !== undefined)
}

async function write(io: Io, entries: readonly Entry[], output: string | undefined): Promise<void> {
  let config = emptyConfig()
  const taken = new Set<string>()
  for (const entry of entries) {
    const name = freeName(entry.name, taken)
    taken.add(name)
    config = withEntry(config, entry, name)
  }
  // With several, none is a safe choice.
  if (entries.length === 1) config['current-context'] = entries[0]?.name ?? ''
  const text = await dumpYaml(config)
  if (output === undefined) return io.out(text)
  await replaceFile(output, text)
  const choice = entries.length === 1 ? [] : ['--context', 'NAME']
  const call = shellWords(['kubectl', '--kubeconfig', output, ...choice, 'get', 'pods'], io.shell)
  note(io, `Wrote ${output}. Use it with: ${call}`)
}

async function mergeAndTell(io: Io, entries: readonly Entry[], use: boolean): Promise<void> {
  const { names, files, isCurrent } = await mergeEntries(io, entries, use)
  if (files.length > 0) note(io, `Wrote ${files.join(', ')}.`)
  else note(io, 'The kube config is up to date.')
  const [name = ''] = names
  if (isCurrent) note(io, `The current context is ${name}.`)
  else if (names.length === 1)
    note(io, `Use it with: ${shellWords(['kubectl', '--context', name, 'get', 'pods'], io.shell)}`)
  else note(io, `The contexts are: ${names.join(', ')}`)
}
