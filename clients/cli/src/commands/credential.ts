/** `keyplane credential`: the credential plugin of kubectl. */
import { execCredential } from '../../../core/src/plugin.ts'
import { audienceIn } from '../api/audience.ts'
import { exchangedToken } from '../api/exchange.ts'
import { type Form, issueCredential } from '../api/issue.ts'
import { openSession } from '../api/session.ts'
import { type ClusterTarget, optionsMeant, pluginTarget, targetOf } from '../api/target.ts'
import { command } from '../arguments/command.ts'
import { lifetime } from '../arguments/durations.ts'
import { execInfo } from '../credentials/execcredential.ts'
import { cachedCredential } from '../credentials/flight.ts'
import { DEFAULT_TTL } from '../credentials/lifetime.ts'
import { UsageError } from '../io/errors.ts'

export const credential = command({
  name: ['credential'],
  summary: 'Print a credential for kubectl (the credential plugin)',
  description:
    'Kube configs that "keyplane kubeconfig" writes run this command. It prints an ExecCredential of client.authentication.k8s.io/v1, or v1beta1 for clients that ask for it. It never ' +
    'asks anything. It keeps the credential in a private folder until 80% of its lifetime has passed, so that many commands share one.\n\n' +
    'A client runs it again after a 401. A program that asks again before its credential expires gets a new one: once a minute, and then less often. After a 403 a client does not ask again: if the scope of the key has changed, its token has the older one. Use --refresh.\n\n' +
    'If the server cannot be reached after that, it prints the old credential until that expires, with a message. If the server ' +
    'refuses, it prints none. Without --virtual-cluster and --cluster it prints the access key itself, for the management API.\n\n' +
    'A client that passes the cluster (provideClusterInfo) may name the target in place of an option: the extension client.authentication.k8s.io/exec of the cluster is ' +
    '{"cluster": "NAME"} or {"virtualCluster": "PROJECT/NAME"}. It can change nothing else, and such a client never gets the access key.\n\n' +
    'An ID token is exchanged for a token of the cluster in one request, or of several with --also, and these tokens are kept until they end. An ID token that was exchanged for a key already gives tokens with this key. With --ttl and --with cert it is exchanged for a key, which then asks for the credential.',
  options: {
    'virtual-cluster': {
      type: 'string',
      value: 'PROJECT/NAME',
      help: 'virtual cluster to which the credential gives access',
    },
    cluster: { type: 'string', value: 'CLUSTER', help: 'connected cluster to which the credential gives access' },
    with: {
      type: 'string',
      value: 'token|cert|account',
      help: 'kind of the credential; certificates cannot be revoked, and only virtual clusters sign them; account is for connected clusters whose service accounts issue the tokens',
      default: 'token',
    },
    also: {
      type: 'string',
      multiple: true,
      value: 'CLUSTER',
      help: 'further cluster, or PROJECT/NAME, whose token the same exchange of an ID token gets and keeps; * for all connected clusters that its trust names. Does nothing with an access key',
      names: 'all-clusters',
    },
    ttl: { type: 'string', value: 'DURATION', help: 'lifetime of the credential', default: DEFAULT_TTL },
    refresh: {
      type: 'boolean',
      help: 'print a new credential and keep it in place of the old one, whose scope may be older',
    },
  },
  examples: [
    { does: 'Print a token for a virtual cluster', run: 'keyplane credential --virtual-cluster shop/dev' },
    { does: 'Print a token for a connected cluster', run: 'keyplane credential --cluster west' },
  ],
  meant: optionsMeant,
  async run({ values: { context, ttl, refresh, also, with: form = 'token', ...names } }, io) {
    const { version, cluster } = execInfo(io)
    const target = pluginTarget(targetOf(names), cluster)
    const life = lifetime(ttl ?? DEFAULT_TTL, '--ttl')
    if (!isForm(form)) throw new UsageError(`--with must be token, cert or account, not "${form}".`)
    if (form === 'cert' && target.kind !== 'virtualCluster') {
      throw new UsageError('--with cert needs --virtual-cluster: nothing else signs client certificates.')
    }
    if (form === 'account' && target.kind !== 'cluster') throw new UsageError('--with account needs --cluster.')
    const session = await openSession(io, { context })
    if (refresh && target.kind === 'management')
      throw new UsageError('--refresh needs --virtual-cluster or --cluster: an access key is not kept.')
    if (target.kind === 'management') return io.out(execCredential({ token: await session.key() }, version))
    const { server, exchange } = session
    // An exchange with a target decides on the life of its token, and gives no certificates.
    const isDirect = exchange !== undefined && form === 'token' && ttl === undefined
    const direct = isDirect ? await exchangedToken(io, exchange, target, also.map(audienceIn)) : undefined
    if (direct !== undefined && refresh)
      throw new UsageError('--refresh needs an access key: most ID tokens are exchanged only once.')
    const found =
      direct ??
      (await cachedCredential(io, {
        owner: { server, key: await session.key() },
        target: JSON.stringify([labelOf(target), form, life]),
        // A script may ask as often as it likes.
        parent: io.env.KUBERNETES_EXEC_INFO ? io.parent() : undefined,
        refresh,
        issue: (signal) => issueCredential(session, target, life, { form, signal }),
      }))
    io.out(execCredential(found, version))
  },
})

const isForm = (text: string): text is Form => ['token', 'cert', 'account'].includes(text)

const labelOf = (target: ClusterTarget): string[] =>
  target.kind === 'cluster' ? [target.kind, target.name] : [target.kind, target.project, target.name]
