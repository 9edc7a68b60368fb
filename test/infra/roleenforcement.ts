/**
 * Runs the packaged functions behind the local gateway. Each call to AWS is allowed only if the role of the calling
 * function allows it, as IAM decides with the policies of the template.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import diagnostics from 'node:diagnostics_channel'
import { type ClientRequest, createServer, type IncomingMessage, request as requestOver } from 'node:http'
import { deployed as described } from '../../infra/local/gateway/deployment.ts'
import { applyEnvironment, defaultEnvironment } from '../../infra/local/gateway/environment.ts'
import { createLambda } from '../../infra/local/gateway/lambda.ts'
import { createListener } from '../../infra/local/gateway/listener.ts'
import { basePath, startDeployment, type TestDeployment } from '../support/deployment.ts'
import { listening } from '../support/listening.ts'
import { packaged } from '../support/packaged.ts'
import { defaultTemplate, readPackagedTemplate } from '../support/packagedtemplate.ts'
import { type Asked, readRoles } from './roles.ts'

export interface RoleCall extends Asked {
  /** Path of the function's file below functions/. */
  name: string
  allowed: boolean
}

/** A request: its method, path and token, and the body with its type. */
type Sent = [method: string, path: string, token: string, body?: object | string, type?: string, accept?: string]

export interface RoleDeployment extends TestDeployment {
  calls: readonly RoleCall[]
  /** Functions that ran. */
  ran: ReadonlySet<string>
  /** Returns the value of a secret of the template. */
  secret(id: string): Promise<string>
  /** Runs a function as Lambda would. */
  invoke(name: string, event: object): Promise<unknown>
  /** Sends a request through the gateway and returns the parsed body. Fails for a status other than 2xx. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  request(...sent: Sent): Promise<any>
}

const stage = 'dev'
const prefix = `keyplane/${stage}/virtualclusters/`
const header = 'x-function'

export async function startWithRoles(): Promise<RoleDeployment> {
  const [{ bundles }, deployment] = await Promise.all([
    packaged(),
    startDeployment('https://127.0.0.1/kubernetes/management'),
  ])
  const { services, environment } = deployment
  // In the middle of a rotation: lookups try both peppers.
  const peppers = Object.fromEntries([1, 2].map((version) => [version, randomBytes(32).toString('base64')]))
  const SecretString = JSON.stringify({ current: '2', peppers })
  await services.setSecret(environment.PEPPER_SECRET_ID ?? '', SecretString)
  const accessKey = await services.setSecret('keyplane/local/access-key')
  const refs = {
    Api: 'api',
    Table: environment.TABLE_NAME ?? '',
    'Table.Arn': `table/${environment.TABLE_NAME}`,
    'Table.StreamArn': 'stream',
    Pepper: environment.PEPPER_SECRET_ID ?? '',
    'Pepper.Id': environment.PEPPER_SECRET_ID ?? '',
    AccessKey: accessKey,
    'AccessKey.Id': accessKey,
    SigningKey: environment.SIGNING_KEY_IDS ?? '',
    'SigningKey.Arn': `key/${environment.SIGNING_KEY_IDS}`,
    'AWS::Partition': 'aws',
    'AWS::Region': 'eu-central-1',
    'AWS::AccountId': '0',
  }
  const roles = readRoles(defaultTemplate(await readPackagedTemplate()), refs)
  const nameOf = (id: string) => described.functions.get(id)?.module.replace(/^functions\//, '') ?? ''
  const idOf = (name: string) => [...described.functions.keys()].find((id) => nameOf(id) === name) ?? ''

  const calls: RoleCall[] = []
  const guard = await startGuard(environment, (name, asked) => {
    const allowed = roles.allows(name, asked)
    calls.push({ name, ...asked, allowed })
    return allowed
  })
  const restore = applyEnvironment({
    ...defaultEnvironment,
    ...environment,
    MAX_IDLE_SECONDS: '604800',
    ACCESS_KEY_SECRET_ID: accessKey,
    VIRTUAL_CLUSTER_SECRETS_PREFIX: prefix,
    CLUSTER_SECRETS_PREFIX: prefix.replace('virtualclusters', 'clusters'),
    AWS_ENDPOINT_URL_DYNAMODB: guard.url,
    AWS_ENDPOINT_URL_KMS: guard.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: guard.url,
    AWS_ENDPOINT_URL_EVENTBRIDGE: guard.url,
  })

  const current = new AsyncLocalStorage<string>()
  const ran = new Set<string>()
  const as = <T>(id: string, work: () => T): T => {
    ran.add(nameOf(id))
    return current.run(nameOf(id), work)
  }
  const sign = (message: unknown) => {
    const name = current.getStore()
    if (name !== undefined) (message as { request: ClientRequest }).request.setHeader(header, name)
  }
  diagnostics.subscribe('http.client.request.created', sign)
  const lambda = createLambda(described, bundles)
  const { listener } = createListener(
    described,
    {
      warm: (id) => lambda.warm(id),
      invoke: (id, event) => as(id, () => lambda.invoke(id, event)),
      stream: (id, event, stream) => as(id, () => lambda.stream(id, event, stream)),
    },
    { report: () => undefined },
  )
  const gateway = await listening(createServer(listener))

  return {
    ...deployment,
    calls,
    ran,
    secret: async (id) => (await services.secret(refs[id as keyof typeof refs])) ?? '',
    keepCredentials: async (name, SecretString) => {
      await services.setSecret(prefix + name, SecretString)
    },
    invoke: (name, event) => as(idOf(name), () => lambda.invoke(idOf(name), event)),
    async request(method, path, token, body, type = 'application/json', accept = '*/*') {
      const headers = {
        accept,
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': type }),
      }
      const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
      const response = await fetch(`${gateway.url}${basePath}${path}`, { method, headers, ...sent })
      const answer = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`)
      return answer.includes('\n{') || !answer.startsWith('{') ? answer : JSON.parse(answer)
    },
    async stop() {
      diagnostics.unsubscribe('http.client.request.created', sign)
      await Promise.all([gateway, guard].map(({ stop }) => stop()))
      restore()
      await deployment.stop()
    },
  }
}

/** Guards the four services. Calls that no function makes pass. */
async function startGuard(environment: Record<string, string>, allows: (name: string, asked: Asked) => boolean) {
  const upstreams: Record<string, string | undefined> = {
    DynamoDB_20120810: environment.AWS_ENDPOINT_URL_DYNAMODB,
    TrentService: environment.AWS_ENDPOINT_URL_KMS,
    secretsmanager: environment.AWS_ENDPOINT_URL_SECRETS_MANAGER,
    AWSEvents: environment.AWS_ENDPOINT_URL_EVENTBRIDGE,
  }
  const server = createServer(async (request, response) => {
    const body = await bytes(request)
    const target = String(request.headers['x-amz-target'])
    const [service = '', operation = ''] = target.split('.')
    const name = request.headers[header]
    const refused =
      typeof name === 'string' &&
      decisionsOf(service, operation, JSON.parse(body.toString())).some((one) => !allows(name, one))
    if (refused) {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
      response.end(JSON.stringify({ __type: 'AccessDeniedException', message: `${name} may not ${operation}` }))
      return
    }
    // With the Host that was signed.
    const { connection: _, ...headers } = request.headers
    const upstream = await new Promise<IncomingMessage>((resolve, reject) => {
      const passedOn = requestOver(upstreams[service] ?? '', { method: 'POST', headers }, resolve)
      passedOn.on('error', reject).end(body)
    })
    response.writeHead(upstream.statusCode ?? 0, { 'content-type': upstream.headers['content-type'] ?? '' })
    upstream.pipe(response)
  })
  return listening(server)
}

async function bytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

type Key = { pk: { S: string } }
interface Write {
  TableName: string
  Key?: Key
  Item?: Key
}

/** Returns the IAM decisions that a call requires, one for each item of a transaction. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of every operation.
function decisionsOf(service: string, operation: string, body: any): Asked[] {
  if (service === 'TrentService')
    return [{ action: `kms:${operation}`, resource: `key/${body.KeyId.split('/').pop()}` }]
  if (service === 'secretsmanager') {
    const id = String(body.SecretId)
    const resource = id.startsWith('arn:') ? id : `arn:aws:secretsmanager:eu-central-1:0:secret:${id}-AbCdEf`
    return [{ action: `secretsmanager:${operation}`, resource }]
  }
  if (service === 'AWSEvents') {
    return (body.Entries as { EventBusName: string }[]).map(({ EventBusName }) => ({
      action: `events:${operation}`,
      resource: `arn:aws:events:eu-central-1:0:event-bus/${EventBusName}`,
    }))
  }
  const single = (action: string, { TableName, Key, Item }: Write): Asked => ({
    action: `dynamodb:${action}`,
    resource: `table/${TableName}`,
    partitions: [(Key ?? Item)?.pk.S ?? ''],
  })
  switch (operation) {
    case 'TransactWriteItems':
      return (body.TransactItems as Record<string, Write>[]).flatMap((item) =>
        Object.entries(item).map(([kind, write]) =>
          single(kind === 'ConditionCheck' ? 'ConditionCheckItem' : `${kind}Item`, write),
        ),
      )
    case 'BatchGetItem':
      return Object.entries(body.RequestItems as Record<string, { Keys: Key[] }>).map(([table, { Keys }]) => ({
        action: 'dynamodb:BatchGetItem',
        resource: `table/${table}`,
        partitions: Keys.map(({ pk }) => pk.S),
      }))
    case 'Query': {
      const values = body.ExpressionAttributeValues as Record<string, { S: string }>
      const [, placeholder = ''] = /=\s*(:\w+)/.exec(body.KeyConditionExpression) ?? []
      const index = body.IndexName ? `/index/${body.IndexName}` : ''
      const partitions = [values[placeholder]?.S ?? '']
      return [{ action: 'dynamodb:Query', resource: `table/${body.TableName}${index}`, partitions }]
    }
    default:
      return [single(operation, body)]
  }
}
