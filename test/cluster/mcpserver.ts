/** Runs an MCP server for Kubernetes, and calls its tools as a coding agent does. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, vi } from 'vitest'
import type { CommandLine } from '../clients/cli/commandline.ts'
import { patience } from '../support/patience.ts'

const MCP_SERVER = 'kubernetes-mcp-server@0.0.67'

/** Installs the server in the folder, and returns its program. */
export async function installMcpServer(folder: string): Promise<string> {
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder]
  await promisify(execFile)('npm', ['install', ...flags, MCP_SERVER])
  return join(folder, 'node_modules/.bin/kubernetes-mcp-server')
}

/** Returns a function that calls a tool of a server that is running. */
export async function mcpTools({ child }: Awaited<ReturnType<CommandLine['start']>>) {
  let said = ''
  child.stdout.on('data', (text: string) => {
    said += text
  })
  const answers = () =>
    said
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
  let id = 0
  const ask = async (method: string, params: object) => {
    const own = ++id
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: own, method, params })}\n`)
    await vi.waitFor(() => expect(answers().some((one) => one.id === own)).toBe(true), { ...patience, interval: 200 })
    return answers().find((one) => one.id === own)
  }
  const clientInfo = { name: 'test', version: '1' }
  await ask('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo })
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  return async (name: string, args: object = {}) => {
    const { result, error } = await ask('tools/call', { name, arguments: args })
    return { isError: result?.isError === true || error !== undefined, text: JSON.stringify(result ?? error) }
  }
}
