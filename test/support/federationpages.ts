/** Runs the objects and the jobs of the pages about exchanges as a platform does: with its variables, and tokens of its form. */

import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { exchangeForm, providers, sendForm, tokenPath, trusts } from './federation.ts'
import { readIdTokenShape } from './idtokens.ts'
import { type IssuerKey, makeIssuerKey, signIdToken } from './issuerkey.ts'
import { listeningOverTls } from './listeningovertls.ts'
import { management } from './objects.ts'
import { type Ran, runProgram } from './programs.ts'
import type { Answer } from './request.ts'
import type { TestServer } from './server.ts'

const root = new URL('../../', import.meta.url)

/** What the pages call the API and the trusts. */
const KEYPLANE = 'https://keys.example.com/prod/kubernetes/management'
const CLIENT_ID = /\b[a-z-]+@3b0c9f52-6f0e-4a57-9d7c-2f4f0a1b8c11\b/g

// biome-ignore lint/suspicious/noExplicitAny: blocks of the pages have every shape.
export type Block = any

/** Returns the blocks in a language of a page below a heading. */
export async function blocksOf(page: string, heading: string, language: string): Promise<string[]> {
  const text = await readFile(new URL(page, root), 'utf8')
  const [, section = ''] = new RegExp(`^## ${heading}\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(text) ?? []
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  )
}

export const yamlOf = async (page: string, heading: string): Promise<Block[]> =>
  (await blocksOf(page, heading, 'yaml')).map((block) => load(block))

/** Mounts the config map of a pod and its token into a folder, whose `kubeconfig` has the certificate authority of the API. */
export async function mountPod(
  { curl = '', kubeconfig = '' }: Readonly<Record<string, string>>,
  { folder, token, authority }: { folder: string; token: string; authority: string },
): Promise<void> {
  const file = join(folder, 'token')
  await writeFile(file, token)
  await writeFile(join(folder, 'curl'), curl.replace('/var/run/secrets/keyplane/token', file))
  const whole = kubeconfig
    .replace('/etc/keyplane/curl', join(folder, 'curl'))
    .replace(/^( +)server: .*$/m, `$&\n$1certificate-authority: ${authority}`)
  await writeFile(join(folder, 'kubeconfig'), whole)
}

export interface Platform {
  /** A folder of this platform's machine. */
  folder: string
  /** The client_id of the trust. */
  credential: string
  /** Replaces the URL and the trust of the pages by those of the test. */
  here(text: string): string
  /** Returns a new ID token in the form of a fixture, for the API. */
  idToken(claims?: Record<string, unknown>): string
  /** Exchanges a token, with parameters that replace the usual ones. */
  exchange(token: string, parameters?: Record<string, string>): Promise<Answer>
  /** The URL of a server that returns ID tokens as GitHub does, with these claims. */
  requestUrl: string
  /** What the next ID tokens of `requestUrl` say instead. */
  replaced: Record<string, unknown>
  /** Runs a script in a shell of its own. */
  run(script: string, environment?: Record<string, string>, shell?: readonly string[]): Promise<Ran>
  /** Installs a program that the platform has, and this project does not. */
  install(name: string, script: string): Promise<void>
  /** Returns the names of the keys that came through the trust. */
  keys(): Promise<string[]>
  stop(): Promise<void>
}

/** Creates the provider, with pinned keys, and the trust of a section. */
export async function startPlatform(
  server: TestServer,
  [provider, trust]: readonly Block[],
  fixture: string,
): Promise<Platform> {
  const key: IssuerKey = makeIssuerKey('RS256', 'platform')
  const { claims } = await readIdTokenShape(fixture)
  const jwks = JSON.stringify({ keys: [key.jwk] })
  const algorithms = provider.spec.algorithms ? { algorithms: ['RS256'] } : {}
  await server.make(providers, { ...provider, spec: { ...provider.spec, jwks, ...algorithms } })
  const made = await server.make(trusts, trust)
  const credential: string = made.status.clientID

  const folder = await mkdtemp(join(tmpdir(), 'keyplane-platform-'))
  const idToken = (changed: Record<string, unknown> = {}): string => {
    const now = Math.floor(Date.now() / 1000)
    const lived = Number(claims.exp) - Number(claims.iat)
    const aud = Array.isArray(claims.aud) ? [server.base] : server.base
    const jti = { jti: crypto.randomUUID() }
    return signIdToken({ ...claims, ...jti, aud, iat: now, nbf: now, exp: now + lived, ...changed }, key)
  }
  const requests = await listeningOverTls((request, response) => {
    const aud = new URL(request.url ?? '/', 'https://a').searchParams.get('audience')
    const isAsked = /^bearer request-token$/i.test(request.headers.authorization ?? '')
    if (!isAsked) return void response.writeHead(401).end()
    response.writeHead(200).end(JSON.stringify({ count: 1, value: idToken({ aud, ...platform.replaced }) }))
  })
  await writeFile(join(folder, 'ca.crt'), `${requests.certificateAuthority}\n${server.certificateAuthority}`)

  const platform: Platform = {
    folder,
    credential,
    here: (text) => text.replaceAll(KEYPLANE, server.base).replaceAll(CLIENT_ID, credential),
    idToken,
    exchange: (token, parameters) => sendForm(server, tokenPath, exchangeForm(credential, token, parameters)),
    requestUrl: `${requests.url}/?api-version=2.0`,
    replaced: {},
    run(script, environment = {}, shell = ['bash', '-e', '-o', 'pipefail', '-c']) {
      const [command = '', ...args] = shell
      const env = {
        HOME: folder,
        PATH: `${folder}:${process.env.PATH}`,
        CURL_CA_BUNDLE: join(folder, 'ca.crt'),
        ...environment,
      }
      return runProgram(command, [...args, script], { cwd: folder, env })
    },
    async install(name, script) {
      await writeFile(join(folder, name), script)
      await chmod(join(folder, name), 0o755)
    },
    async keys() {
      const selector = `labelSelector=management.platform%2Ffederated-identity-credential%3D${trust.metadata.name}`
      const { json } = await server.call(`${management}/ownedaccesskeys?${selector}`)
      return json.items.map(({ metadata }: Block) => metadata.name)
    },
    async stop() {
      await requests.stop()
      await server.call(`${trusts}/${trust.metadata.name}`, { method: 'DELETE' })
      await server.call(`${providers}/${provider.metadata.name}`, { method: 'DELETE' })
      await rm(folder, { recursive: true, force: true })
    },
  }
  return platform
}
