/** `keyplane login`: verifies a server and a key, and keeps them as the current context. */
import { resolve } from 'node:path'
import { scopeWords } from '../../../../lib/access/scopes/words.ts'
import { BASE_PATH, deploymentName } from '../../../../lib/clusters/deployment.ts'
import { givenKey } from '../api/givenkey.ts'
import { readSelf, type Self } from '../api/self.ts'
import { serverUrl } from '../api/serverurl.ts'
import { authorityIn, sessionOf, withWholeKey } from '../api/session.ts'
import { UnknownPathError } from '../api/status.ts'
import { command, type Values } from '../arguments/command.ts'
import { type Context, changeConfig, demandConfig, readConfig } from '../config/contexts.ts'
import { configFile } from '../config/paths.ts'
import { UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note, warn } from '../output/messages.ts'
import { facts } from '../output/table.ts'
import { expiry, withTime } from '../output/times.ts'

const options = {
  'key-file': { type: 'string', value: 'FILE', help: 'file with the access key; - reads standard input' },
  ca: {
    type: 'string',
    value: 'FILE',
    help: 'certificate authority of the server, in PEM',
    default: 'KEYPLANE_CA, or those of this machine',
  },
  exchange: {
    type: 'string',
    value: 'NAME@UID',
    help: 'instead of a key, exchange ID tokens through this trust (a FederatedIdentityCredential)',
  },
  'token-file': {
    type: 'string',
    value: 'FILE',
    help: 'file with the ID token for --exchange, read again for each exchange',
  },
} as const

export const login = command({
  name: ['login'],
  summary: 'Log in to a server with an access key',
  description:
    'It checks the key with the server, keeps both in a file that only you can read, and makes them the current context. ' +
    'The key comes from --key-file, KEYPLANE_KEY, KEYPLANE_KEY_FILE or standard input; in a terminal it is asked for. ' +
    'A key never belongs on the command line, where other users see it.\n\n' +
    'The URL of the console works too. Without a URL it logs in to the server of the context again.',
  positionals: [
    { name: 'URL', help: 'URL of the API, such as https://keys.example.com/kubernetes/management', optional: true },
  ],
  options,
  examples: [
    { does: 'Log in; the key is asked for', run: 'keyplane login https://keys.example.com/kubernetes/management' },
    {
      does: 'Log in to the server of "npm start"',
      run: 'keyplane login https://127.0.0.1:8443 --ca .local/ca.crt --key-file .local/access-key',
    },
    {
      does: 'Keep a second server beside the first, and go back',
      run: 'keyplane login https://keys.example.com/dev --context dev\nkeyplane use keys.example.com',
    },
  ],
  async run({ values, positionals: [url] }, io) {
    const { contexts, currentContext } = await readConfig(io)
    const known = contexts.get(
      values.context ?? (url === undefined ? (currentContext ?? '') : deploymentName(loginUrl(url))),
    )
    if (url === undefined && known === undefined) {
      throw values.context === undefined
        ? new UsageError(
            'keyplane login needs the URL of the API.',
            'keyplane login https://keys.example.com/kubernetes/management',
          )
        : new UsageError(
            `There is no context "${values.context}".`,
            `To make it: keyplane login URL --context ${values.context}`,
          )
    }
    const given = url === undefined ? serverUrl(known?.server ?? '') : loginUrl(url)
    await demandConfig(io)
    const wanted = await contextOf(io, given, known, values, url !== undefined)
    const keptName = values.context ?? currentContext ?? ''
    const { context: asked, self } = await verified(io, withWholeKey(io, keptName, wanted))
    const { projectNamespacePrefix } = self.status
    const context = { ...asked, ...(projectNamespacePrefix !== undefined && { projectNamespacePrefix }) }
    const name = values.context ?? (url === undefined ? keptName : deploymentName(context.server))
    await changeConfig(io, (config) => {
      config.contexts.set(name, context)
      config.currentContext = name
    })
    tell(io, name, context, self)
  },
})

/** Returns the URL of the API for the one that a person gives, which may be that of the console. */
const loginUrl = (text: string): string => serverUrl(text.replace(/\/console(?:[/?#].*)?$/, ''))

async function contextOf(
  io: Io,
  server: string,
  known: Context | undefined,
  values: Values<typeof options>,
  isNew: boolean,
): Promise<Context> {
  // Like KEYPLANE_KEY, it belongs to the server that is logged in to, not to a context that exists.
  const ca = values.ca ?? ((isNew && io.env.KEYPLANE_CA) || undefined)
  const { exchange, 'token-file': tokenFile, 'key-file': keyFile } = values
  const sameHost = known !== undefined && new URL(known.server).origin === new URL(server).origin
  const authority = ca === undefined ? (sameHost ? known.certificateAuthorityData : undefined) : await authorityIn(ca)
  const base = { server, ...(authority !== undefined && { certificateAuthorityData: authority }) }
  if (exchange !== undefined || tokenFile !== undefined) {
    if (exchange === undefined || tokenFile === undefined)
      throw new UsageError('--exchange and --token-file belong together.')
    if (keyFile !== undefined) throw new UsageError('--exchange needs no key: omit --key-file.')
    return { ...base, exchange: { clientID: exchange, tokenFile: resolve(tokenFile) } }
  }
  if (!isNew && keyFile === undefined) return { ...known, ...base }
  return { ...base, key: await givenKey(io, keyFile, server) }
}

/** Asks the server who the holder is. A URL without a base path is tried with that of the API first. */
async function verified(io: Io, context: Context): Promise<{ context: Context; self: Self }> {
  const { server } = context
  const attempt = async (at: string) => {
    const one = { ...context, server: at }
    return { context: one, self: await readSelf(sessionOf(io, one)) }
  }
  if (server.endsWith(BASE_PATH)) return attempt(server)
  try {
    return await attempt(`${server}${BASE_PATH}`)
  } catch (error) {
    if (!(error instanceof UnknownPathError)) throw error
    return attempt(server)
  }
}

function tell(io: Io, name: string, { server }: Context, { status }: Self): void {
  const { subject, accessKey, accessKeyScope, expirationTimestamp } = status
  note(io, `Logged in to ${server} as ${subject ?? 'nobody'}.`)
  const words: [string, string | undefined][] = [
    ['Key', accessKey],
    ['May do', scopeWords(accessKeyScope)],
    ['Expires', withTime(expiry(expirationTimestamp, io.now()), expirationTimestamp)],
    ['Context', `${name}, in ${configFile(io)}`],
  ]
  io.err(facts(words, '  '))
  if (io.env.KEYPLANE_URL) warn(io, 'KEYPLANE_URL is set: commands without --context use it instead of this context.')
}
