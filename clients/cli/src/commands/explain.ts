/** `keyplane explain`: says whether a key allows a request, with every step of the decision. */
import { type ApiResource, type ResourceText, readResource } from '../../../../lib/access/attributes/resourcetext.ts'
import { dumpYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import type { AccessReview, Scope } from '../../../core/src/objects.ts'
import { type Shell, shellWords } from '../../../core/src/shellwords.ts'
import { clusterResource, resourceHere } from '../../../core/src/words/clusterresources.ts'
import { nearest } from '../../../core/src/words/nearest.ts'
import { verbProblem } from '../../../core/src/words/verbs.ts'
import { listInstances } from '../api/instances.ts'
import { keyPath } from '../api/keys.ts'
import { readSelf } from '../api/self.ts'
import { API, openSession, type Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { type CommonValues, command, type Values } from '../arguments/command.ts'
import { projectAndName } from '../arguments/lists.ts'
import { CliError, UsageError } from '../io/errors.ts'
import { note } from '../output/messages.ts'
import { plain, plainLines } from '../output/plain.ts'
import { printAs } from '../output/print.ts'

const GROUP = 'management.platform'

const options = {
  namespace: {
    type: 'string',
    short: 'n',
    value: 'NAMESPACE',
    help: 'namespace of the object',
    default: 'cluster-scoped objects, or all namespaces',
  },
  subresource: { type: 'string', value: 'NAME', help: 'part of the object, such as log or kubeconfig' },
  cluster: { type: 'string', value: 'CLUSTER', help: 'ask about a request to this connected cluster' },
  'virtual-cluster': { type: 'string', value: 'PROJECT/NAME', help: 'ask about a request to this virtual cluster' },
  space: { type: 'string', value: 'PROJECT/NAME', help: 'ask about a request in this space' },
  from: { type: 'string', value: 'IP', help: 'ask about a request from this address' },
} as const

export const explain = command({
  name: ['explain'],
  summary: 'Explain why a key allows a request, or which right is missing',
  description:
    'NAME is an access key (default: your own, if its scope allows it to review itself). VERB is get, list, watch, create, update, patch, delete or deletecollection. RESOURCE is, for example, pods, deployments.apps, pods/web-0 for one object, or a path such as /metrics; singular and short names, such as deploy, mean the same as in kubectl. Without a target the request is one to this API. The exit code is 1 if the request is not allowed.',
  positionals: [
    { name: '[NAME] VERB RESOURCE', help: 'key, verb, and resource or path', multiple: true, names: 'keys' },
  ],
  options,
  formats: ['json', 'yaml'],
  examples: [
    {
      does: 'Check whether the key ci can get a kube config of the virtual cluster shop/dev',
      run: 'keyplane explain ci create virtualclusterinstances/dev --subresource kubeconfig -n p-shop',
    },
    {
      does: 'Check whether it can list pods in a connected cluster',
      run: 'keyplane explain ci list pods -n web --cluster west',
    },
    { does: 'Check whether you can create access keys', run: 'keyplane explain create ownedaccesskeys' },
  ],
  async run({ values, positionals }, io) {
    if (positionals.length < 2 || positionals.length > 3) {
      throw new UsageError('keyplane explain needs a verb and a resource, and takes a key before them.', USAGE)
    }
    const [what = '', word = '', given] = positionals.toReversed()
    const target = placeOf(values)
    const isPath = what.startsWith('/')
    const verb = isPath ? word.toLowerCase() : word
    const problem = verbProblem(verb, { isPath, isHere: target === undefined })
    if (problem !== undefined) throw new UsageError(problem, USAGE)
    const session = await openSession(io, { context: values.context })
    const parts = what.split('/')
    if (parts.length === 3 && parts.every((part) => part !== '') && values.subresource === undefined)
      throw await withSubresource(session, positionals, values, io.shell)
    const attributes = await attributesOf(session, { verb, what, isHere: target === undefined }, values)
    const name = given ?? (await readSelf(session)).status.accessKey ?? ''
    const spec: JsonObject = {
      ...attributes,
      ...(target && { target }),
      ...(values.from !== undefined && { sourceIP: values.from }),
    }
    const body = { apiVersion: `${GROUP}/v1`, kind: 'OwnedAccessKeyAccessReview', spec }
    const asked = session.post(`${keyPath(name)}/accessreview`, body, { repeatable: true })
    const review = await asked.catch((error: unknown) => {
      throw given === undefined ? aboutItself(error, name) : error
    })
    const status = review.status as unknown as AccessReview
    if (values.output !== undefined) await printAs(values.output, review, io)
    else io.out(await describe(name, `${verb} ${what}`, status, io.shell))
    if (status.allowed && target && values.output === undefined) note(io, olderToken(values))
    return status.allowed ? 0 : 1
  },
})

/** Says how to get a token with the scope of today. A space is in every cluster. */
function olderToken({ cluster = 'NAME', 'virtual-cluster': virtual }: Values<typeof options>): string {
  const target = virtual === undefined ? `--cluster ${cluster}` : `--virtual-cluster ${virtual}`
  return `If the cluster refuses it, the token may have an older scope of the key: a client asks for no other one after a 403. To get one: keyplane credential --refresh ${target}`
}

/** Returns the error of a key that its own scope forbids to ask about itself, with what to do. */
function aboutItself(error: unknown, name: string): unknown {
  if (!(error instanceof StatusError) || error.code !== 403) return error
  const hint = `The scope of your key does not let it ask about itself. Ask with another key: keyplane explain ${name} VERB RESOURCE`
  return new CliError(error.message, { exitCode: error.exitCode, hint, cause: error })
}

const USAGE = 'Run "keyplane explain --help" for its options and examples.'

function placeOf(values: Values<typeof options>): JsonObject | undefined {
  const { cluster, 'virtual-cluster': virtualCluster, space } = values
  const targets: JsonObject[] = [
    ...(cluster === undefined ? [] : [{ cluster }]),
    ...(virtualCluster === undefined
      ? []
      : [{ virtualCluster: { ...projectAndName(virtualCluster, '--virtual-cluster') } }]),
    ...(space === undefined ? [] : [{ space: { ...projectAndName(space, '--space') } }]),
  ]
  if (targets.length > 1)
    throw new UsageError('Only one of --cluster, --virtual-cluster and --space may be given.', USAGE)
  return targets[0]
}

/** Returns the error for a resource such as `pods/web-0/log`, with the call that is meant. */
async function withSubresource(
  session: Session,
  positionals: readonly string[],
  values: Values<typeof options> & CommonValues,
  shell: Shell,
): Promise<UsageError> {
  const what = positionals.at(-1) ?? ''
  const [resource = '', name = '', subresource = ''] = what.split('/')
  const namespace = values.namespace ?? (await namespaceOf(session, resource, name, values))
  const given = ['cluster', 'virtual-cluster', 'space', 'from', 'context', 'output'] as const
  const call = [
    'keyplane',
    'explain',
    ...positionals.slice(0, -1),
    `${resource}/${name}`,
    '--subresource',
    subresource,
    ...(namespace === undefined ? [] : ['-n', namespace]),
    ...given.flatMap((option) => (values[option] === undefined ? [] : [`--${option}`, values[option]])),
  ]
  return new UsageError(
    `"${what}" is not RESOURCE/NAME: use an option for a part of an object.`,
    `You probably mean: ${shellWords(call, shell)}`,
  )
}

/** Returns the namespace of the only virtual cluster of this API with the name; undefined for other objects. */
async function namespaceOf(
  session: Session,
  resource: string,
  name: string,
  values: Values<typeof options>,
): Promise<string | undefined> {
  if (placeOf(values) !== undefined || !/^(virtualclusterinstances?|vci)(\.|$)/.test(resource)) return undefined
  const instances = await listInstances(session, undefined).catch(() => [])
  const found = instances.filter((one) => one.name === name)
  return found.length === 1 ? found[0]?.namespace : 'NAMESPACE'
}

interface Asked {
  verb: string
  what: string
  isHere: boolean
}

async function attributesOf(
  session: Session,
  { verb, what, isHere }: Asked,
  { namespace, subresource }: Values<typeof options>,
): Promise<JsonObject> {
  if (what.startsWith('/')) {
    if (namespace !== undefined || subresource !== undefined)
      throw new UsageError('A path has no namespace and no subresource.', USAGE)
    return { nonResourceAttributes: { verb, path: what } }
  }
  const read = readResource(what)
  if (read === undefined)
    throw new UsageError(`"${what}" is not RESOURCE/NAME.`, 'A part of an object is --subresource NAME.')
  const { part: name } = read
  const known = isHere ? await demandHere(session, read) : clusterResource(read)
  return {
    resourceAttributes: {
      verb,
      ...known,
      ...(name && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(subresource !== undefined && { subresource }),
    },
  }
}

/** Returns the resource of this API that a text names. Throws a UsageError if there is none. */
async function demandHere(session: Session, named: ResourceText): Promise<{ resource: string; group: string }> {
  const list = (await session.get(API)) as { resources?: ApiResource[] }
  const resources = (list.resources ?? []).filter(({ name }) => !name.includes('/'))
  const found = resourceHere(named, GROUP, resources)
  if (found !== undefined) return found
  const names = resources.map(({ name }) => name)
  const guess = nearest(named.resource, names)
  throw new UsageError(
    `This API has no resource "${named.resource}"${guess === undefined ? '' : `: did you mean "${guess}"?`}`,
    `It has ${names.join(', ')}. For other resources, name the target with --cluster, --virtual-cluster or --space, or the group: pods.GROUP.`,
  )
}

/** What each check asks, in words. */
const CHECKS: Readonly<Record<string, string>> = {
  life: 'the key',
  source: 'address',
  scope: 'scope',
  rights: 'rights',
}

async function describe(
  name: string,
  request: string,
  { allowed, reason, steps = [] }: AccessReview,
  shell: Shell,
): Promise<string> {
  const lines = steps.map(({ check, allowed: passes, reason: why = '' }) => {
    const sign = passes === undefined ? '?' : passes ? '✓' : '✗'
    return plain(`  ${sign} ${(CHECKS[check] ?? check).padEnd(8)} ${why}`)
  })
  const entry = steps.find((step) => step.entry !== undefined)?.entry
  const head = `${request} with access key "${name}": ${allowed ? 'allowed' : 'not allowed'}`
  return [
    plain(head),
    '',
    ...lines,
    ...(allowed || lines.length > 0 || !reason ? [] : [plain(`  ${reason}`)]),
    ...(entry === undefined ? [] : ['', ...(await added(name, entry, shell))]),
    '',
  ].join('\n')
}

async function added(name: string, entry: Scope, shell: Shell): Promise<string[]> {
  const yaml = plainLines((await dumpYaml(entry as JsonObject)).trimEnd())
  return [
    'This entry of spec.scope would allow it:',
    ...yaml.split('\n').map((line) => `    ${line}`),
    plain(`To add it: ${editCommand(name, entry, shell)}`),
  ]
}

/** Returns the command that adds a scope to that of a key. */
function editCommand(name: string, { rules = [], ...lists }: Scope, shell: Shell): string {
  const { clusters = [], projects = [], spaces = [], virtualClusters = [], roles = [], ...others } = lists
  const words = [
    ...clusters.flatMap(({ cluster = '' }) => ['--cluster', cluster]),
    ...projects.flatMap(({ project = '' }) => ['--project', project]),
    ...spaces.flatMap(({ project, space }) => ['--space', `${project}/${space}`]),
    ...virtualClusters.flatMap(({ project, virtualCluster }) => ['--virtual-cluster', `${project}/${virtualCluster}`]),
    ...roles.flatMap(({ role = '', projects: within = [], virtualClusters: at = [] }) => {
      const places = [...within, ...at]
      return ['--role', places.length > 0 ? `${role}=${places.join(',')}` : role]
    }),
    ...rules.flatMap((rule) => ['--rule', JSON.stringify(rule)]),
  ]
  const isWhole = words.length > 0 && Object.keys(others).length === 0
  return isWhole
    ? shellWords(['keyplane', 'keys', 'edit', name, ...words], shell)
    : shellWords(['kubectl', 'edit', 'ownedaccesskey', name], shell)
}
