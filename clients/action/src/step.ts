/** Gets an access key or a token of one cluster, and writes a kube config for the steps that follow. */
import type { FileHandle } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { deploymentName, entryNameOf } from '../../../lib/clusters/deployment.ts'
import { type Made as MadeFile, makeFile, makeFolder, makeTemporaryFolder } from '../../core/src/files/privatefiles.ts'
import type { Plugin } from '../../core/src/plugin.ts'
import { withAttempts } from './api/attempts.ts'
import { describe, namesOf } from './api/target.ts'
import {
  type KubeConfig,
  readAddress,
  readSelf,
  requestClusterConfig,
  requestKubeConfig,
  requestToken,
} from './api/token.ts'
import { type Inputs, readInput, readInputs } from './inputs.ts'
import { kubeConfigText, withExecApi, withPlugins } from './kubeconfig.ts'
import { type CommandFiles, commandFiles } from './runner/commandfiles.ts'
import { Failure, messageOf } from './runner/failure.ts'
import type { Log } from './runner/log.ts'
import {
  currentToken,
  type Made,
  newKey,
  newKubeConfig,
  newToken,
  type Surroundings,
  secondsWithin,
} from './session/renewal.ts'
import {
  clusterFolder,
  type HeldKey,
  keyFile,
  kubeConfigFile,
  type Session,
  warningOnce,
  writeHeld,
  writeSession,
} from './session/session.ts'

/** Lifetime of a token in seconds, if the step does not say it. */
const DEFAULT_SECONDS = 3600

/** Runs the step. Reports what is wrong, and returns the exit code. */
export async function runStep(env: NodeJS.ProcessEnv, log: Log): Promise<number> {
  try {
    await takeStep(env, log)
    return 0
  } catch (error) {
    log.error(messageOf(error))
    return 1
  }
}

async function takeStep(env: NodeJS.ProcessEnv, runner: Log): Promise<void> {
  // Before anything else, even before a wrong input is reported.
  runner.mask(readInput(env, 'key'))
  const inputs = readInputs(env)
  const files = commandFiles(env)
  if (!env.RUNNER_TEMP) throw new Failure('RUNNER_TEMP is not set: this program runs as a step of GitHub Actions')
  const folder = await makeTemporaryFolder(env.RUNNER_TEMP, 'keyplane-')
  saveMade(files, 'folder', folder)
  const log = warningOnce(folder.path, runner)
  const kubeConfig = await makeNew(inputs.path === undefined ? kubeConfigFile(folder.path) : resolve(inputs.path))
  // The post step knows the files of the folder by their names.
  if (inputs.path !== undefined) saveMade(files, 'kubeconfig', kubeConfig)
  const { expires, key } = await fill(kubeConfig.file, folder.path, inputs, { env, log })

  files.setVariable('KUBECONFIG', kubeConfig.path)
  files.setOutput('kubeconfig', kubeConfig.path)
  if (key !== undefined) files.setOutput('key-file', keyFile(folder.path))
  if (expires !== undefined && !inputs.renew) files.setOutput('expires', timestamp(expires))
  if (key !== undefined && inputs.outputKey) files.setOutput('key', key)
  const end = inputs.renew ? 'is renewed while the job runs' : `is valid ${until(expires)}`
  log.info(`The kube config of ${describe(inputs.target)} ${end}.`)
}

function saveMade(files: CommandFiles, name: string, { path, identity }: MadeFile): void {
  files.saveState(name, path)
  files.saveState(`${name}-identity`, identity)
}

/** Makes a file. Throws a Failure when there is anything at the path. */
async function makeNew(path: string): Promise<MadeFile & { file: FileHandle }> {
  try {
    await makeFolder(dirname(path))
    return await makeFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === 'open' && (error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new Failure(`${path} exists. This step overwrites no file: give another path, or remove the file first`)
    throw new Failure(`${path} cannot be written: ${messageOf(error)}`)
  }
}

/** Writes the kube config to the file that was made, whatever has taken its place. */
async function fill(file: FileHandle, folder: string, inputs: Inputs, surroundings: Surroundings): Promise<Got> {
  try {
    const asked = sessionOf(inputs)
    await writeSession(folder, asked)
    const make = isTokenEnough(inputs) ? configWithoutKey : configWithKey
    const made = await make(folder, inputs, asked, surroundings)
    await file.writeFile(made.text)
    return made
  } finally {
    await file.close()
  }
}

function sessionOf({ url, audience, certificateAuthority, source, target, ttl }: Inputs): Session {
  const exchanged = 'credential' in source ? source : {}
  return {
    url,
    audience,
    ...(certificateAuthority && { certificateAuthority }),
    ...exchanged,
    target,
    ...(ttl && { ttl }),
  }
}

/** Reports whether all that the job needs is a token of one cluster, for as long as the trust says: one request gets it. */
const isTokenEnough = ({ source, target, ttl, outputKey }: Inputs): boolean =>
  'credential' in source && target.type !== 'management' && ttl === undefined && !outputKey

/** What the step has got. The key is absent if the step has none. */
interface Got extends KubeConfig {
  key?: string
}

/** Returns a kube config for which the ID token is exchanged directly. */
async function configWithoutKey(
  folder: string,
  inputs: Inputs,
  session: Session,
  surroundings: Surroundings,
): Promise<Got> {
  const { renew } = inputs
  const { target, url } = session
  if (target.type === 'cluster' && target.address !== undefined) {
    const { token, expires } = await newToken(folder, session, surroundings)
    const user = renew ? plugin(folder, inputs) : { token }
    return { text: kubeConfigText({ name: entryNameOf(target.name, url), ...target.address, user }), expires }
  }
  const made = await newKubeConfig(folder, session, surroundings)
  const { text, expires } = made
  if (!renew) return { text, expires }
  const folders = await foldersFor(folder, session, made)
  return {
    text: withPlugins(
      text,
      folders.map((one) => plugin(one, inputs)),
    ),
    expires,
  }
}

/** Returns the folders of the plugins. Each of several clusters has its own, so that it renews its token even if another one is away. */
async function foldersFor(
  folder: string,
  session: Session,
  { credential, others = [], life }: Made,
): Promise<string[]> {
  const { target } = session
  if (target.type !== 'cluster' || others.length === 0) return [folder]
  const tokens = [credential, ...others]
  return Promise.all(
    namesOf(target).map(async (name, index) => {
      const own = clusterFolder(folder, name)
      await makeFolder(own)
      await writeSession(own, { ...session, target: { type: 'cluster', name } })
      await writeHeld(own, { token: tokens[index] ?? '', tokenLife: life })
      return own
    }),
  )
}

/** Returns a kube config for which the API is asked with an access key. */
async function configWithKey(folder: string, inputs: Inputs, asked: Session, surroundings: Surroundings): Promise<Got> {
  const held = await getKey(folder, inputs, asked, surroundings)
  const session = await withPrefix(asked, held.key, surroundings.log)
  await writeSession(folder, session)
  return { ...(await makeKubeConfig(folder, inputs, session, held, surroundings)), key: held.key }
}

async function getKey(
  folder: string,
  { source }: Inputs,
  session: Session,
  surroundings: Surroundings,
): Promise<HeldKey> {
  if ('key' in source) {
    await writeHeld(folder, source)
    return source
  }
  const held = await newKey(folder, session, surroundings)
  await writeHeld(folder, held)
  surroundings.log.info(`The access key of ${source.credential} is valid ${until(held.keyLife.until)}.`)
  return held
}

/** Returns the session with what the server says about the namespaces of projects, if the target is in one. */
async function withPrefix(session: Session, key: string, { info }: Log): Promise<Session> {
  if (session.target.type !== 'virtualCluster') return session
  // The request for the kube config has the same warnings.
  const { projectNamespacePrefix } = await withAttempts(() => readSelf(session, key, { warning: () => {} }), info)
  return { ...session, projectNamespacePrefix }
}

/** Returns the kube config. With `renew` its user is a plugin, which is tried once. */
async function makeKubeConfig(
  folder: string,
  inputs: Inputs,
  session: Session,
  { key, keyLife }: HeldKey,
  { env, log }: Surroundings,
): Promise<KubeConfig> {
  const { renew, execApi } = inputs
  const { target, ttl } = session
  const seconds = () => ttl ?? secondsWithin(keyLife, DEFAULT_SECONDS)
  if (target.type === 'management') {
    const { expires } = keyLife
      ? { expires: keyLife.until }
      : await withAttempts(() => readSelf(session, key, log), log.info)
    const user = renew ? plugin(folder, inputs) : { token: key }
    return {
      text: kubeConfigText({ name: deploymentName(session.url), server: session.url, ...authorityOf(session), user }),
      ...(expires !== undefined && { expires }),
    }
  }
  if (target.type === 'virtualCluster') {
    const user = () => (renew ? programOf(folder) : { seconds: seconds() })
    const made = await withAttempts(() => requestKubeConfig(session, key, { target, user: user() }, log), log.info)
    if (!renew) return made
    const { token, expires } = await currentToken(folder, session, { env, log })
    log.mask(token)
    return { text: withExecApi(made.text, execApi), ...(expires !== undefined && { expires }) }
  }
  const { name, address: given } = target
  if (!renew && given === undefined)
    return withAttempts(() => requestClusterConfig(session, key, { name, seconds: seconds() }, log), log.info)
  const address = given ?? (await withAttempts(() => readAddress(session, key, name, log), log.info))
  const made = renew
    ? await currentToken(folder, session, { env, log })
    : await withAttempts(() => requestToken(session, key, { target, seconds: seconds() }, log), log.info)
  log.mask(made.token)
  const user = renew ? plugin(folder, inputs) : { token: made.token }
  const text = kubeConfigText({ name: entryNameOf(name, session.url), ...address, user })
  return { text, ...(made.expires !== undefined && { expires: made.expires }) }
}

const authorityOf = ({ certificateAuthority }: { certificateAuthority?: string }) =>
  certificateAuthority === undefined ? {} : { certificateAuthority }

/** Returns the plugin: the Node.js of the runner, which stays where it is while the job runs. */
const plugin = (folder: string, { execApi }: Pick<Inputs, 'execApi'>): Plugin => ({
  ...programOf(folder),
  execApi,
})

const programOf = (folder: string) => ({
  command: process.execPath,
  args: [join(import.meta.dirname, 'credential.js'), folder],
})

const timestamp = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')

const until = (expires: number | undefined): string =>
  expires === undefined ? 'until it is revoked' : `until ${timestamp(expires)}`
