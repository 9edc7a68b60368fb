/**
 * Starts the embedded DynamoDB. The emulator verifies no signatures, so it opens no port: it is a child process that serves
 * DynamoDB's operations as MCP tools over its standard input and output. The endpoint in front accepts signed calls only.
 */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from '../host/startuperror.ts'
import { AwsError, type AwsInput, type AwsOperation, JsonText, serveAwsJson, type VerifySignature } from './awsjson.ts'
import { findDynoxide } from './dynoxide.ts'
import { type RpcProcess, startRpcProcess } from './rpcprocess.ts'

export interface EmbeddedDynamoDBOptions {
  /** Database file, fsynced at every commit; in memory when absent. */
  path?: string
  /** process.platform and process.arch, such as `linux-x64`. */
  platform: string
  verify: VerifySignature
}

export interface EmbeddedDynamoDB {
  /** The value for AWS_ENDPOINT_URL_DYNAMODB. */
  url: string
  /** ID of the process group. */
  pid: number
  /** Resolves with a one-line reason when the process has exited for any reason. */
  ended: Promise<string>
  close(): Promise<void>
}

/** DynamoDB's largest request: a batch of 16 MB. */
const MAX_BODY_BYTES = 16 * 1024 * 1024

const OPERATIONS = [
  ...['CreateTable', 'DeleteTable', 'DescribeTable', 'ListTables', 'UpdateTimeToLive', 'DescribeTimeToLive'],
  ...['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan', 'BatchGetItem', 'BatchWriteItem'],
  ...['TransactGetItems', 'TransactWriteItems'],
]

/** Throws a StartupError when the platform has no emulator and when the file is damaged. */
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

/** Tools and the members of their input have names in snake case: `TransactWriteItems` is the tool `transact_write_items`. */
const snakeCase = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()

/** Members without effect here: every read is consistent, and capacity is not counted. */
const IGNORED = ['ConsistentRead', 'ReturnConsumedCapacity', 'ReturnItemCollectionMetrics']

async function run(child: RpcProcess, { name, inputSchema }: Tool, input: AwsInput): Promise<JsonText> {
  const known = inputSchema.properties ?? {}
  const members = Object.entries(input).filter(([member]) => !IGNORED.includes(member))
  const stranger = members.find(([member]) => !(snakeCase(member) in known))
  if (stranger) throw new AwsError('ValidationException', `The embedded DynamoDB does not support ${stranger[0]}.`)
  const given = members.map(([member, value]) => [snakeCase(member), value])
  // Without `raw`, the description of a table is a summary for people.
  const shape = 'raw' in known ? { raw: true } : {}
  const answer = (await child.call('tools/call', { name, arguments: { ...Object.fromEntries(given), ...shape } })) as {
    content: { text: string }[]
    isError?: boolean
  }
  const text = answer.content[0]?.text ?? ''
  if (answer.isError) throw errorIn(text)
  return new JsonText(text)
}

/** Converts the emulator's error. It does not contain the item that failed a condition. */
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

/** Detects a damaged database file. SQLite itself would report damage only when it reads the affected page. */
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
