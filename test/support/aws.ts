/**
 * Emulates what keyplane and its guides call of KMS, Secrets Manager and EventBridge, in memory and over AWS's own protocol, so that
 * clients of the SDK work unchanged. Sources: smithy.io, "AWS JSON 1.0 and 1.1 protocols"; the API References of the services.
 */
import {
  constants,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  privateEncrypt,
  randomUUID,
} from 'node:crypto'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { p256 } from '@noble/curves/nist.js'
import { listening } from './listening.ts'

export interface Aws {
  /** For AWS_ENDPOINT_URL_KMS, AWS_ENDPOINT_URL_SECRETS_MANAGER and AWS_ENDPOINT_URL_EVENTBRIDGE. */
  url: string
  /** Returns the id of a new signing key. The default algorithm is ES256. */
  makeKey(algorithm?: 'ES256' | 'RS256'): string
  /** Returns the ARN of a new secret, or replaces the text of an existing one. */
  setSecret(name: string, text?: string): string
  /** Returns the current text of a secret. */
  secret(id: string): string | undefined
  /** Deletes the secrets, except that of the name. */
  deleteSecrets(except: string): void
  /** The JSON texts of the events that were published so far. */
  published: string[]
  stop(): Promise<void>
}

export const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
export const region = 'eu-central-1'

// biome-ignore lint/suspicious/noExplicitAny: the input of every operation, which only the SDK writes.
type Input = any

interface Version {
  id: string
  stages: string[]
  content: { SecretString?: string; SecretBinary?: string }
}

interface Secret {
  ARN: string
  Name: string
  isDeleted: boolean
  versions: Version[]
}

/** `onText` is called when a client gives a secret its current text. */
export async function startAws(onText: (name: string, text: string) => void = () => {}): Promise<Aws> {
  const keys = new Map<string, KeyObject>()
  const secrets = new Map<string, Secret>()
  const published: string[] = []

  function keyOf({ KeyId }: Input): KeyObject {
    const key = keys.get(KeyId)
    if (key) return key
    throw failure('NotFoundException')
  }
  function secretOf({ SecretId }: Input): Secret {
    const secret = [...secrets.values()].find(({ ARN, Name }) => SecretId === ARN || SecretId === Name)
    if (!secret) throw failure('ResourceNotFoundException')
    if (secret.isDeleted) throw failure('InvalidRequestException')
    return secret
  }
  function create(Name: string): Secret {
    const ARN = `arn:aws:secretsmanager:${region}:000000000000:secret:${Name}-abcdef`
    const secret = { ARN, Name, isDeleted: false, versions: [] }
    secrets.set(Name, secret)
    return secret
  }
  /** Moves a label. The version that was current becomes the previous one. */
  function label({ versions }: Secret, stage: string, id: string): void {
    const before = versions.find(({ stages }) => stages.includes(stage))
    for (const version of versions) {
      const others = version.stages.filter((one) => one !== stage)
      version.stages = version.id === id ? [...others, stage] : others
    }
    if (stage === 'AWSCURRENT' && before && before.id !== id) label({ versions } as Secret, 'AWSPREVIOUS', before.id)
  }
  function put(secret: Secret, { ClientRequestToken, SecretString, SecretBinary, VersionStages }: Input): void {
    if (!secret.versions.some(({ id }) => id === ClientRequestToken))
      secret.versions.push({ id: ClientRequestToken, stages: [], content: { SecretString, SecretBinary } })
    for (const stage of VersionStages ?? ['AWSCURRENT']) label(secret, stage, ClientRequestToken)
    if (SecretString !== undefined && VersionStages === undefined) onText(secret.Name, SecretString)
  }
  function versionOf(input: Input): Version {
    const { VersionId, VersionStage = VersionId === undefined ? 'AWSCURRENT' : undefined } = input
    const found = secretOf(input).versions.find(
      ({ id, stages }) =>
        [undefined, id].includes(VersionId) && (VersionStage === undefined || stages.includes(VersionStage)),
    )
    if (found) return found
    throw failure('ResourceNotFoundException')
  }

  const operations: Record<string, (input: Input) => object> = {
    GetPublicKey: (input) => ({ KeyId: input.KeyId, PublicKey: publicDer(keyOf(input)) }),
    Sign(input) {
      const key = keyOf(input)
      const isRsa = key.asymmetricKeyType === 'rsa'
      if (input.SigningAlgorithm !== (isRsa ? 'RSASSA_PKCS1_V1_5_SHA_256' : 'ECDSA_SHA_256'))
        throw failure('InvalidKeyUsageException')
      const digest = Buffer.from(input.Message, 'base64')
      return { Signature: (isRsa ? signDigestRsa : signDigest)(key, digest) }
    },
    CreateSecret(input) {
      if (secrets.has(input.Name)) throw failure('ResourceExistsException')
      const secret = create(input.Name)
      if (input.SecretString ?? input.SecretBinary) put(secret, input)
      return { ARN: secret.ARN, Name: secret.Name }
    },
    GetSecretValue(input) {
      const { ARN, Name } = secretOf(input)
      const { id, stages, content } = versionOf(input)
      return { ARN, Name, VersionId: id, VersionStages: stages, ...content }
    },
    PutSecretValue(input) {
      const secret = secretOf(input)
      put(secret, input)
      return { ARN: secret.ARN, Name: secret.Name, VersionId: input.ClientRequestToken }
    },
    DescribeSecret(input) {
      const { ARN, Name, versions } = secretOf(input)
      return { ARN, Name, VersionIdsToStages: Object.fromEntries(versions.map(({ id, stages }) => [id, stages])) }
    },
    UpdateSecretVersionStage(input) {
      const secret = secretOf(input)
      label(secret, input.VersionStage, input.MoveToVersionId)
      return { ARN: secret.ARN, Name: secret.Name }
    },
    DeleteSecret(input) {
      secretOf(input).isDeleted = true
      return {}
    },
    PutEvents: ({ Entries }) => ({
      Entries: Entries.map(({ Detail }: Input) => {
        if (!Detail.startsWith('{')) return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' }
        published.push(Detail)
        return { EventId: randomUUID() }
      }),
    }),
  }

  const server = createServer(async (request, response) => {
    const [, name = ''] = String(request.headers['x-amz-target']).split('.')
    const input = await json(request)
    response.setHeader('content-type', 'application/x-amz-json-1.1')
    try {
      const operation = operations[name]
      if (!operation) throw failure('UnknownOperationException')
      response.end(JSON.stringify(operation(input)))
    } catch (error) {
      response.statusCode = 400
      response.end(JSON.stringify({ __type: (error as Error).name, message: 'refused' }))
    }
  })
  // Clients keep connections. If the server closed idle ones, a request that begins at that moment would fail.
  server.keepAliveTimeout = 0
  const { url, stop } = await listening(server)
  return {
    url,
    makeKey(algorithm = 'ES256') {
      const id = randomUUID()
      const { privateKey } =
        algorithm === 'ES256'
          ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
          : generateKeyPairSync('rsa', { modulusLength: 2048 })
      keys.set(id, privateKey)
      return id
    },
    setSecret(name, text) {
      const secret = [...secrets.values()].find(({ ARN, Name }) => [ARN, Name].includes(name)) ?? create(name)
      if (text !== undefined) put(secret, { ClientRequestToken: randomUUID(), SecretString: text })
      return secret.ARN
    },
    secret: (SecretId) => versionOf({ SecretId }).content.SecretString,
    deleteSecrets(except) {
      for (const name of secrets.keys()) if (name !== except) secrets.delete(name)
    },
    published,
    stop,
  }
}

const failure = (name: string) => Object.assign(new Error(name), { name })

const publicDer = (key: KeyObject): string =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64')

/** Returns the signature of a digest in DER. node:crypto cannot do this: it hashes everything that it signs. */
function signDigest(key: KeyObject, digest: Uint8Array): string {
  const secret = Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url')
  return Buffer.from(p256.sign(digest, secret, { prehash: false, format: 'der' })).toString('base64')
}

/** The DigestInfo of a SHA-256 before its digest (RFC 8017 section 9.2, note 1). */
const SHA_256 = Buffer.from('3031300d060960864801650304020105000420', 'hex')

/** Returns the RSASSA-PKCS1-v1_5 signature of a digest. */
const signDigestRsa = (key: KeyObject, digest: Uint8Array): string =>
  privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.concat([SHA_256, digest])).toString('base64')
