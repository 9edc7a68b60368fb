/** `keyplane clusters connect`: makes everything that connects a cluster, step by step, and may be repeated. */
import { join } from 'node:path'
import { accountObjects } from '../../../../../lib/clusters/connect/accounts.ts'
import { whenAway } from '../../../../../lib/clusters/connect/clusterfiles.ts'
import {
  clusterTerraform,
  EKS_GROUP,
  type EksRole,
  eksRole,
  entryCommand,
  roleCommands,
  roleTerraform,
} from '../../../../../lib/clusters/connect/eksaccess.ts'
import { type Platform, platforms, recipeFor, type TextFile } from '../../../../../lib/clusters/connect/recipes.ts'
import { yamlWriter } from '../../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject, JsonValue } from '../../../../../lib/engine/meta/types.ts'
import { isName } from '../../../../core/src/forms.ts'
import { shellWords } from '../../../../core/src/shellwords.ts'
import { asCluster, clusterPath, demandClusterName } from '../../api/clusters.ts'
import { projectNamespace } from '../../api/projects.ts'
import { readSelf } from '../../api/self.ts'
import { API, openSession, type Session } from '../../api/session.ts'
import { StatusError } from '../../api/status.ts'
import { virtualCluster } from '../../api/target.ts'
import { command, type Values } from '../../arguments/command.ts'
import { makeClusterKey } from '../../connect/clusterkey.ts'
import { missingFiles, writeFiles } from '../../connect/ownfiles.ts'
import { goInto } from '../../connect/way.ts'
import { CliError, UsageError } from '../../io/errors.ts'
import type { Io } from '../../io/io.ts'
import { isLocal } from '../../kubeconfig/givenaddress.ts'
import { warn } from '../../output/messages.ts'
import { plainLines } from '../../output/plain.ts'
import { addressFields, clusterOptions, givenAddress, givenFields } from './fields.ts'

const options = {
  for: {
    type: 'string',
    value: 'PLATFORM',
    choices: platforms,
    help: 'what runs the control plane: kubeadm, k3s, rke2, talos or vcluster',
    default: 'the flags of any kube-apiserver',
  },
  ...clusterOptions,
  namespace: {
    type: 'string',
    value: 'NAME',
    help: 'where service accounts issue the tokens, their namespace',
    default: 'keyplane',
  },
  terraform: { type: 'boolean', help: 'with --eks, write Terraform in place of commands' },
  out: { type: 'string', value: 'DIR', help: 'folder for the files', default: 'keyplane-NAME' },
  directory: {
    type: 'string',
    value: 'DIR',
    help: 'folder of the files on the control plane',
    default: '/etc/kubernetes/keyplane, and on Talos /var/lib/keyplane',
  },
  'when-away': {
    type: 'string',
    value: whenAway.join('|'),
    choices: whenAway,
    help: 'who decides about tokens without a scope while keyplane cannot be reached: nobody, or RBAC',
    default: 'refuse',
  },
  api: {
    type: 'string',
    value: 'URL',
    help: 'where the cluster reaches keyplane',
    default: 'the server of the context',
  },
} as const

type ConnectValues = Values<typeof options>

export const clustersConnect = command({
  name: ['clusters', 'connect'],
  summary:
    'Connect a cluster: write the files of its API server, make its key and its object, and check the way into it',
  description:
    'It needs the key of an administrator without a scope. Each step says whether it is done or what is missing, and the last lines say what the administrator of the cluster does. Repeat the command after a failure, or to see what is missing: it makes what is not there, and changes nothing else. Files that somebody has changed stay.\n\n' +
    'The cluster sends its reviews with a key of its own, whose value is in a file that only you can read, and in no other. With --eks or --tokens service-accounts the cluster has no such key: the files let keyplane ask it for tokens. Of a virtual cluster, whose instance exists, only the files and the key are made.',
  positionals: [
    {
      name: 'NAME',
      help: 'name of the cluster in scopes, or PROJECT/NAME of a virtual cluster',
      names: 'all-clusters',
    },
  ],
  options,
  examples: [
    {
      does: 'Connect a cluster of k3s that the team shop may use',
      run: 'keyplane clusters connect west --from-kubeconfig west.kubeconfig --team shop --for k3s',
    },
    {
      does: 'Connect a cluster of Amazon EKS',
      run: 'keyplane clusters connect west --from-kubeconfig west.kubeconfig --eks west --region eu-west-1',
    },
    {
      does: 'Connect one whose API server you cannot configure',
      run: 'keyplane clusters connect west --from-kubeconfig west.kubeconfig --tokens service-accounts',
    },
    { does: 'Write the vcluster.yaml of a virtual cluster', run: 'keyplane clusters connect shop/dev --for vcluster' },
    { does: 'See what is missing, and change nothing', run: 'keyplane clusters connect west --dry-run' },
  ],
  async run({ values, positionals: [name = ''] }, io) {
    const isVirtual = name.includes('/')
    if (isVirtual) virtualCluster(name)
    else demandClusterName(name)
    checkUsage(values, isVirtual)
    const address = await givenAddress(values)
    const fields = givenFields(values)
    const session = await openSession(io, { context: values.context })
    const object = isVirtual ? undefined : await objectOf(session, name)
    const byAccounts = (fields.tokens ?? object?.spec?.tokens) === 'ServiceAccounts'
    if (byAccounts && values.for !== undefined)
      throw new UsageError(
        '--for is for clusters that accept tokens of keyplane, and service accounts issue those of this one.',
      )
    const label = name.replace('/', '-')
    const out = values.out ?? `keyplane-${label}`
    const steps = stepsOf(io)
    const work = { io, session, name, label, out, values, isDry: values['dry-run'], steps }
    const next = byAccounts ? await letIn(work, fields, object?.spec?.credentials?.eks) : await accept(work, isVirtual)
    if (!isVirtual) {
      const wanted = { ...fields, ...(address && addressFields(address)) }
      if (address && isLocal(address.server))
        warn(io, 'only this machine reaches the server, and kube configs of others name it')
      const isThere = await makeObject(work, wanted, object)
      if (isThere && (await isConnected(work))) return
    }
    io.out(`\n${plainLines(next.map((step, index) => `${index + 1}. ${step}`).join('\n'))}\n`)
    const check = isVirtual ? `keyplane kubeconfig ${name} --merge` : `keyplane clusters check ${name}`
    io.out(`Then: ${check}\n`)
  },
})

function checkUsage(values: ConnectValues, isVirtual: boolean): void {
  const accounts = values.eks !== undefined || values.tokens === 'service-accounts'
  if (values.terraform && values.eks === undefined) throw new UsageError('--terraform is for --eks.')
  if (values.namespace !== undefined && !accounts)
    throw new UsageError('--namespace is for --eks and --tokens service-accounts.')
  if (values.namespace !== undefined && (!isName(values.namespace) || values.namespace.includes('.')))
    throw new UsageError(`"${values.namespace}" is not the name of a namespace.`)
  if (values.eks !== undefined && !EKS_NAME.test(values.eks))
    throw new UsageError('--eks is not the name of a cluster in Amazon EKS.')
  if (values.region !== undefined && !REGION.test(values.region))
    throw new UsageError('--region is not a region of AWS, such as eu-central-1.')
  if (values.directory !== undefined && !DIRECTORY.test(values.directory))
    throw new UsageError('--directory is not an absolute path of letters, digits, -, _ and dots.')
  if (values.api !== undefined && !/^https:\/\/[^\s'"]+$/.test(values.api))
    throw new UsageError('--api is not an https URL.')
  const ofObject = ['from-kubeconfig', 'server', 'eks', 'tokens', 'display-name', 'description'] as const
  const given =
    ofObject.find((one) => values[one] !== undefined) ??
    (values.user.length + values.team.length > 0 ? 'team' : undefined)
  if (isVirtual && given !== undefined)
    throw new UsageError(
      `--${given} is for connected clusters: a virtual cluster has an instance with its address and access.`,
    )
}

const EKS_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/
const REGION = /^[a-z]{2}(-[a-z]+)+-[0-9]$/
const DIRECTORY = /^(\/[\w.-]+)+\/?$/

type State = 'done' | 'missing'

const stepsOf = (io: Io) => (state: State, title: string, text: string) =>
  io.out(`${plainLines(`${state.padEnd(9)}${title.padEnd(8)}${text}`).replaceAll('\n', `\n${' '.repeat(17)}`)}\n`)

interface Work {
  io: Io
  session: Session
  name: string
  label: string
  /** The folder of the files. */
  out: string
  values: ConnectValues
  isDry: boolean
  steps: ReturnType<typeof stepsOf>
}

async function objectOf(session: Session, name: string) {
  const found = await session.get(clusterPath(name)).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.code !== 404) throw error
  })
  return found && asCluster(found)
}

/** Writes the files, and says so. */
async function makeFiles({ out, isDry, steps }: Work, files: readonly TextFile[]): Promise<void> {
  const missing = await missingFiles(out, files)
  if (!isDry && missing.length > 0) await writeFiles(out, missing)
  const names = files.map(({ name }) => name).join(', ')
  const state = isDry && missing.length > 0 ? 'missing' : 'done'
  steps(state, 'files', `${missing.length > 0 && !isDry ? 'wrote ' : ''}${names} in ${out}`)
}

/** Makes what lets the cluster accept tokens of keyplane: the files of its API server, and its key. Returns what to do with them. */
async function accept(work: Work, isVirtual: boolean): Promise<string[]> {
  const { io, session, name, label, out, values, isDry, steps } = work
  const { certificateAuthority } = session
  const { directory, 'when-away': away } = values
  const recipe = await recipeFor(values.for as Platform | undefined, {
    issuer: await issuerOf(session),
    api: (values.api ?? session.server).replace(/\/+$/, ''),
    place: isVirtual ? await placeOf(session, name) : `clusters/${name}`,
    directory: directory?.replace(/\/$/, ''),
    whenAway: whenAway.find((one) => one === away) ?? 'refuse',
    folder: shellWords([out], io.shell),
    label,
    ...(certificateAuthority !== undefined && { certificateAuthority }),
  })
  await makeFiles(work, recipe.files)
  const file = join(out, recipe.key.name)
  const [role, user] = isVirtual ? ['vcluster', `vcluster-${label}`] : ['agent', `agent-${name}`]
  const { project = '', name: virtual = '' } = isVirtual ? virtualCluster(name) : {}
  const standing = await makeClusterKey(
    session,
    {
      name: user,
      spec: {
        displayName: `The cluster ${name}, for its reviews`,
        user,
        scope: {
          roles: [{ role }],
          ...(isVirtual
            ? { virtualClusters: [{ project, virtualCluster: virtual }] }
            : { clusters: [{ cluster: name }] }),
        },
      },
      file,
      text: recipe.key.text,
    },
    isDry,
  )
  if (standing.missing !== undefined) steps('missing', 'key', standing.missing)
  else steps('done', 'key', `${user}, whose value is in ${file}`)
  return recipe.steps
}

/** Returns the issuer of the deployment's tokens, which may have another address than the API. */
async function issuerOf(session: Session): Promise<string> {
  const { issuer } = await session.get('/.well-known/openid-configuration')
  if (typeof issuer === 'string' && issuer.startsWith('https://')) return issuer
  throw new CliError(`${session.server} does not say who issues its tokens.`)
}

/** Returns the place of a virtual cluster, with the uid of its instance. */
async function placeOf(session: Session, text: string): Promise<string> {
  const { project, name } = virtualCluster(text)
  const namespace = await projectNamespace(session, project)
  const { metadata } = await session.get(`${API}/namespaces/${namespace}/virtualclusterinstances/${name}`)
  const { uid } = (metadata ?? {}) as { uid?: string }
  return `virtualclusters/${namespace}/${name}/${uid}`
}

/** Makes what lets keyplane ask the cluster for tokens of service accounts. Returns what to do with it. */
async function letIn(
  work: Work,
  { credentials }: JsonObject,
  known: { clusterName?: string; region?: string } | undefined,
): Promise<string[]> {
  const { io, session, name, out, values, steps } = work
  const namespace = values.namespace ?? 'keyplane'
  const { clusterName = known?.clusterName, region = known?.region } =
    ((credentials as JsonObject | undefined)?.eks as { clusterName?: string; region?: string } | undefined) ?? {}
  const file = (of: string) => shellWords([join(out, of)], io.shell)
  const apply = `With an administrator's kube config of the cluster: kubectl apply -f ${file('accounts.yaml')}`
  const accounts = await accountsFile(namespace, clusterName === undefined ? undefined : EKS_GROUP)
  if (clusterName === undefined || region === undefined) {
    await makeFiles(work, [accounts])
    return [
      apply,
      `Store the credentials of keyplane's account there as the secret of ${name}: docs/clusters.md, "Register the cluster".`,
    ]
  }
  const role = await roleOf(session)
  if (role === undefined) {
    await makeFiles(work, [accounts])
    steps('missing', 'role', 'this deployment has none, or your key does not see it: administrators without a scope do')
    return [apply]
  }
  const cluster = { name: clusterName, region }
  if (values.terraform) {
    await makeFiles(work, [
      { name: 'role.tf', text: roleTerraform(role) },
      { name: 'cluster.tf', text: clusterTerraform(role, cluster, namespace) },
    ])
    return [
      `Once for each deployment, in its account ${role.account}: apply ${file('role.tf')}`,
      `In the account of the cluster: apply ${file('cluster.tf')}`,
    ]
  }
  await makeFiles(work, [
    accounts,
    { name: 'role.sh', text: `${roleCommands(role).join('\n')}\n` },
    { name: 'entry.sh', text: `${entryCommand(role, cluster)}\n` },
  ])
  return [
    `Once for each deployment, with credentials of its account ${role.account}: sh -e ${file('role.sh')}`,
    apply,
    `With credentials of the account of the cluster: sh -e ${file('entry.sh')}`,
  ]
}

async function accountsFile(namespace: string, group: string | undefined): Promise<TextFile> {
  const dump = await yamlWriter()
  const documents = accountObjects(namespace, group).map((object) => `---\n${dump(object)}`)
  return { name: 'accounts.yaml', text: documents.join('') }
}

/** Returns the role of the deployment, which only the deployment knows: the caller's credentials may be those of another account. */
async function roleOf(session: Session): Promise<EksRole | undefined> {
  const { clustersRoleARN: arn } = (await readSelf(session)).status
  if (arn === undefined) return undefined
  const role = eksRole(arn)
  if (role === undefined)
    throw new CliError('The role of the deployment was not read: its ARN is not that of a deployment.')
  return role
}

/** Makes the object of the cluster unless it is there. Reports whether it is, as it should be or not. */
async function makeObject(
  { session, name, isDry, steps }: Work,
  wanted: JsonObject,
  found: Awaited<ReturnType<typeof objectOf>>,
): Promise<boolean> {
  if (found !== undefined) {
    const other = Object.keys(wanted).filter((field) => !isIn(wanted[field], (found.spec as JsonObject)[field]))
    if (other.length === 0) steps('done', 'object', `${name} is at ${found.spec?.server}`)
    else
      steps(
        'missing',
        'object',
        `${name} has another ${other.join(', ')}: change it with the same options of: keyplane clusters edit ${name}`,
      )
    return true
  }
  if (wanted.server === undefined) {
    steps('missing', 'object', `${name} has no address: repeat this with --from-kubeconfig FILE or --server URL`)
    return false
  }
  const object = { apiVersion: 'management.platform/v1', kind: 'Cluster', metadata: { name }, spec: wanted }
  await session.post(clusterPath(), object, { dryRun: isDry })
  if (isDry) steps('missing', 'object', `${name} does not exist, and would be at ${wanted.server}`)
  else if (wanted.access !== undefined) steps('done', 'object', `${name} is at ${wanted.server}`)
  else
    steps(
      'done',
      'object',
      `${name} is at ${wanted.server}, for administrators only. To give it to others: keyplane clusters edit ${name} --team TEAM`,
    )
  return !isDry
}

/** Reports whether a stored value has what is wanted: all members of objects, and equal lists. */
const isIn = (wanted: JsonValue | undefined, stored: JsonValue | undefined): boolean =>
  isObject(wanted) && isObject(stored)
    ? Object.keys(wanted).every((member) => isIn(wanted[member], stored[member]))
    : JSON.stringify(wanted) === JSON.stringify(stored)

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Goes the way into the cluster. Reports whether it leads there. */
async function isConnected({ io, session, name, steps }: Work): Promise<boolean> {
  let user = ''
  try {
    await goInto(io, session, name, async (step, work) => {
      const [value, text] = await work()
      if (step === 'user') user = text
      return value
    })
    steps('done', 'check', user)
    return true
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    steps('missing', 'check', [error.message, ...(error.hint === undefined ? [] : [error.hint])].join('\n'))
    return false
  }
}
