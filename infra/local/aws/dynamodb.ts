/**
 * The embedded DynamoDB. The emulator itself checks no signature, so it does not listen anywhere: it is a child process
 * that is spoken to over its own input and output (its MCP server, whose tools are the operations of DynamoDB), behind an
 * endpoint that takes signed calls only.
 */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from '../host/startuperror.ts'
import { AwsError, type AwsInput, type AwsOperation, serveAwsJson } from './awsjson.ts'
import { findDynoxide } from './dynoxide.ts'
import { type RpcProcess, startRpcProcess } from './rpcprocess.ts'
import type { VerifySignature } from './signature.ts'

export interface EmbeddedDynamoDBOptions {
  /** Database file, fsynced at every commit; absent = in memory. */
  path?: string
  /** `linux-x64`: of process.platform and process.arch. */
  platform: string
  verify: VerifySignature
}

export interface EmbeddedDynamoDB {
  /** For AWS_ENDPOINT_URL_DYNAMODB. */
  url: string
  /** Of the process group. */
  pid: number
  /** Resolves when the process has ended, whoever ended it, with a line that says why. */
  ended: Promise<string>
  close(): Promise<void>
}

/** What DynamoDB takes at most: a batch of 16 MB. */
const MAX_BODY_BYTES = 16 * 1024 * 1024

const OPERATIONS = [
  ...['CreateTable', 'DeleteTable', 'DescribeTable', 'ListTables', 'UpdateTimeToLive', 'DescribeTimeToLive'],
  ...['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan', 'BatchGetItem', 'BatchWriteItem'],
  ...['TransactGetItems', 'TransactWriteItems'],
]

/** Throws a StartupError where there is none for the platform, and for a damaged file. */
export async function startEmbeddedDynamoDB(options: EmbeddedDynamoDBOptions): Promise<EmbeddedDynamoDB> {
  const binary = findDynoxide(options.platform, process.env.PATH ?? '')
  if (options.path !== undefined) checkFile(options.path)
  const child = startRpcProcess(binary, ['mcp', ...(options.path ? ['--db-path', options.path] : [])])
  try {
    const operations = await operationsOf(child)
    const service = { target: 'DynamoDB_20120810', signingName: 'dynamodb', operations, maxBodyBytes: MAX_BODY_BYTES }
    const endpoint = await serveAwsJson(service, options.verify)
    const close = async () => {
      await endpoint.close()
      await child.stop()
    }
    return { url: endpoint.url, pid: child.pid, ended: child.ended, close }
  } catch (error) {
    await child.stop()
    throw new StartupError(`The embedded DynamoDB does not start: ${await child.ended}`, error)
  }
}

/** Source: Model Context Protocol, revision 2025-03-26, "Lifecycle" and "Tools". */
async function operationsOf(child: RpcProcess): Promise<Map<string, AwsOperation>> {
  const clientInfo = { name: 'keyplane', version: '1' }
  await child.call('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo })
  child.notify('notifications/initialized')
  const { tools } = (await child.call('tools/list', {})) as { tools: Tool[] }
  const known = new Map(tools.map((tool) => [tool.name, tool]))
  return new Map(
    OPERATIONS.flatMap((name) => {
      const tool = known.get(snakeCase(name))
      return tool ? [[name, (input: AwsInput) => run(child, tool, input)] as const] : []
    }),
  )
}

interface Tool {
  name: string
  inputSchema: { properties?: object }
}

/** `TransactWriteItems` is the tool `transact_write_items`, and the same goes for the members of its input. */
const snakeCase = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()

/** They change nothing here: every read is consistent, and nobody counts capacity. */
const IGNORED = ['ConsistentRead', 'ReturnConsumedCapacity', 'ReturnItemCollectionMetrics']

async function run(child: RpcProcess, { name, inputSchema }: Tool, input: AwsInput): Promise<object> {
  const known = inputSchema.properties ?? {}
  const members = Object.entries(input).filter(([member]) => !IGNORED.includes(member))
  const stranger = members.find(([member]) => !(snakeCase(member) in known))
  if (stranger) throw new AwsError('ValidationException', `The embedded DynamoDB has no ${stranger[0]} here.`)
  const given = members.map(([member, value]) => [snakeCase(member), value])
  // A described table is a summary for people otherwise.
  const shape = 'raw' in known ? { raw: true } : {}
  const answer = (await child.call('tools/call', { name, arguments: { ...Object.fromEntries(given), ...shape } })) as {
    content: { text: string }[]
    isError?: boolean
  }
  const text = answer.content[0]?.text ?? ''
  if (answer.isError) throw errorIn(text)
  return JSON.parse(text) as object
}

/** The item that failed a condition is not among what the emulator says here. Whoever wants it reads it. */
function errorIn(text: string): AwsError {
  let said: { error_type?: string; message?: string } = {}
  try {
    said = JSON.parse(text) as typeof said
  } catch {}
  const { error_type: name = 'SerializationException', message = text } = said
  const reasons = name === 'TransactionCanceledException' ? /\[([\w, ]+)\]/.exec(message)?.[1] : undefined
  return new AwsError(name, message, name === 'InternalServerError' ? 500 : 400, {
    ...(reasons && { CancellationReasons: reasons.split(', ').map((Code) => ({ Code })) }),
  })
}

/** The emulator stores in SQLite and would notice damage only when it reads it. */
function checkFile(path: string): void {
  if (!existsSync(path)) return
  let verdict: unknown
  try {
    const database = new DatabaseSync(path)
    try {
      verdict = database.prepare('PRAGMA quick_check(1)').get()?.quick_check
    } finally {
      database.close()
    }
  } catch {}
  if (verdict !== 'ok')
    throw new StartupError(
      `The data file ${path} is damaged: restore it from a copy, or remove the folder ${dirname(path)} to start afresh.`,
    )
}
