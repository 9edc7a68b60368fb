/**
 * Simulates the part of STS that leads to clusters of EKS, over TLS: AssumeRole and GetCallerIdentity. Every signature is checked with the
 * signer of the SDK.
 */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { SignatureV4 } from '@smithy/signature-v4'
import { onTestFinished } from 'vitest'
import { issueServing, makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import type { Sts } from '../../lib/clusters/eks/assumerole.ts'
import type { AwsCredentials } from '../../lib/engine/outbound/awssignature.ts'
import { listening } from './listening.ts'
import { Sha256 } from './sdkhash.ts'

export const REGION = 'eu-central-1'
const ACCOUNT = '123456789012'
export const ROLE = `arn:aws:iam::${ACCOUNT}:role/keyplane-test-clusters`
const STS_HOST = `sts.${REGION}.amazonaws.com`
const MINUTES_15 = 15 * 60_000

/** The credentials of a function. */
const FUNCTION: AwsCredentials = {
  accessKeyId: 'ASIAFUNCTION00000000',
  secretAccessKey: 'function/+',
  sessionToken: 'f',
}

interface Principal {
  credentials: AwsCredentials
  arn: string
  userId: string
}

export interface LocalAws {
  sts: Sts
  /** Actions, in their order. */
  calls: string[]
  /** Answers with this status and nothing else, by action. */
  fails: Map<string, number>
  /** Whether the function may assume the role. */
  mayAssume: boolean
  /** Milliseconds that are added to its clock and to that of `sts`. */
  ahead: number
  /** A proxy through which programs reach STS at its own name, with the authority that they have to trust. */
  proxy: string
  certificateAuthority: string
  stop(): Promise<void>
}

export async function startLocalAws(): Promise<LocalAws> {
  const principals = new Map<string, Principal>([
    [
      FUNCTION.accessKeyId,
      { credentials: FUNCTION, arn: `arn:aws:sts::${ACCOUNT}:assumed-role/f/s`, userId: 'AROAF:s' },
    ],
  ])
  const authority = await makeAuthority('keyplane test AWS', validFor(1, Date.now()))
  const serving = await issueServing(authority, ['127.0.0.1', STS_HOST], ['server auth'], validFor(1, Date.now()))
  const now = () => Date.now() + local.ahead

  async function assume(body: URLSearchParams, caller: Principal): Promise<string | number> {
    if (!local.mayAssume || caller.credentials !== FUNCTION || body.get('RoleArn') !== ROLE) return 403
    const accessKeyId = `ASIAROLE${String(principals.size).padStart(12, '0')}`
    // Of the length of a real one.
    const credentials = {
      accessKeyId,
      secretAccessKey: `role/+${principals.size}`,
      sessionToken: 'IQoJb3Jp/+=='.repeat(90),
    }
    const session = body.get('RoleSessionName') ?? ''
    const arn = `${ROLE.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/${session}`
    principals.set(accessKeyId, { credentials, arn, userId: `AROAROLE:${session}` })
    return `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>${accessKeyId}</AccessKeyId>
      <SecretAccessKey>${credentials.secretAccessKey}</SecretAccessKey>
      <SessionToken>${credentials.sessionToken}</SessionToken></Credentials></AssumeRoleResult></AssumeRoleResponse>`
  }

  async function answer(request: IncomingMessage): Promise<string | number> {
    const url = new URL(request.url ?? '', `https://${request.headers.host}`)
    const body = await text(request)
    const parameters = url.searchParams.has('Action') ? url.searchParams : new URLSearchParams(body)
    const action = parameters.get('Action') ?? ''
    local.calls.push(action)
    const caller = await signerOf(request, url, body, principals, now())
    const failure = local.fails.get(action)
    if (!caller || failure) return failure ?? 403
    if (action === 'AssumeRole') return assume(parameters, caller)
    if (action !== 'GetCallerIdentity') return 400
    const GetCallerIdentityResult = { Account: ACCOUNT, Arn: caller.arn, UserId: caller.userId }
    return JSON.stringify({ GetCallerIdentityResponse: { GetCallerIdentityResult } })
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const answered = await answer(request)
    if (typeof answered === 'string') response.end(answered)
    else response.writeHead(answered).end('{"message":"hunter2"}')
  }
  const server = await listening(
    createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
      serve(request, response).catch((error) => response.destroy(error))
    }),
  )
  const tunnels = createHttpServer().on('connect', (request, socket) => {
    if (request.url !== `${STS_HOST}:443`) return socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    const onward = connect(server.port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
    socket.pipe(onward).pipe(socket)
  })
  const proxy = await listening(tunnels)
  const local: LocalAws = {
    sts: {
      endpoint: `https://127.0.0.1:${server.port}`,
      credentials: () => FUNCTION,
      region: REGION,
      now: () => new Date(now()),
      deadline: (ms) => AbortSignal.timeout(ms),
      certificateAuthority: authority.certificate,
    },
    calls: [],
    fails: new Map(),
    mayAssume: true,
    ahead: 0,
    proxy: proxy.url,
    certificateAuthority: authority.certificate,
    async stop() {
      await Promise.all([proxy.stop(), server.stop()])
    },
  }
  return local
}

/** The same for one test. */
export async function startAwsForTest(): Promise<LocalAws> {
  const local = await startLocalAws()
  onTestFinished(local.stop)
  return local
}

type Signable = Parameters<SignatureV4['presign']>[0]

/** Returns whose request it is, or undefined for a wrong or an old signature. */
async function signerOf(
  request: IncomingMessage,
  url: URL,
  body: string,
  principals: ReadonlyMap<string, Principal>,
  now: number,
): Promise<Principal | undefined> {
  const { authorization = '' } = request.headers
  const query = Object.fromEntries(url.searchParams)
  const presigned = query['X-Amz-Signature']
  const credential = query['X-Amz-Credential'] ?? /Credential=([^,]+)/.exec(authorization)?.[1] ?? ''
  const [accessKeyId = '', , region = '', service = ''] = credential.split('/')
  const principal = principals.get(accessKeyId)
  const written = query['X-Amz-Date'] ?? String(request.headers['x-amz-date'])
  const signingDate = new Date(
    written.replace(
      /^(....)(..)(..)T(..)(..)(..)Z$/,
      (_, ...[y, m, d, h, min, s]) => `${y}-${m}-${d}T${h}:${min}:${s}Z`,
    ),
  )
  if (!principal || Math.abs(now - signingDate.getTime()) > MINUTES_15) return undefined
  const names = (query['X-Amz-SignedHeaders'] ?? /SignedHeaders=([^,]+)/.exec(authorization)?.[1] ?? '').split(';')
  const headers = Object.fromEntries(
    names
      .filter((name) => !/^x-amz-(date|security-token)$/.test(name))
      .map((name) => [name, String(request.headers[name])]),
  )
  const { credentials } = principal
  const signer = new SignatureV4({
    credentials: credentials as never,
    region,
    service,
    sha256: Sha256 as never,
    applyChecksum: false,
  })
  const own = Object.fromEntries(Object.entries(query).filter(([name]) => !name.startsWith('X-Amz-')))
  const signable = {
    protocol: 'https:',
    hostname: url.hostname,
    method: request.method,
    path: url.pathname,
    headers,
    body,
  }
  if (presigned === undefined) {
    const { headers: signed } = await signer.sign({ ...signable, query: own } as Signable, { signingDate })
    return signed.authorization === authorization ? principal : undefined
  }
  const signed = await signer.presign({ ...signable, body: undefined, query: own } as Signable, {
    signingDate,
    expiresIn: Number(query['X-Amz-Expires']),
    unhoistableHeaders: new Set(names),
  })
  return signed.query?.['X-Amz-Signature'] === presigned ? principal : undefined
}
