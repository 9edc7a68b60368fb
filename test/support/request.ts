/** Sends requests to the API over HTTPS, as any client does. */
import https from 'node:https'
import { parsed } from './parsed.ts'

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  json: any
}

export interface Call {
  method?: string
  body?: unknown
  /** Bearer token; by default the administrator's, '' for none. */
  token?: string
  headers?: Record<string, string>
}

const patchAs =
  (type: string) =>
  (body: unknown, token?: string): Call & { method: string } => ({
    method: 'PATCH',
    body,
    headers: { 'content-type': `application/${type}` },
    ...(token !== undefined && { token }),
  })

export const mergePatch = patchAs('merge-patch+json')
/** A server-side apply. */
export const applyPatch = patchAs('apply-patch+yaml')

/** Sends one request; objects as JSON, text unchanged. */
export function request(
  agent: https.Agent,
  url: string,
  { method = 'GET', body, token, headers = {} }: Call,
): Promise<Answer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const all = {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(text !== undefined && typeof body !== 'string' && { 'content-type': 'application/json' }),
    ...(text !== undefined && { 'content-length': String(Buffer.byteLength(text)) }),
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const sent = https.request(url, { method, agent, headers: all }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const received = Buffer.concat(chunks).toString()
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received, json: parsed(received) })
      })
    })
    sent.on('error', reject)
    sent.end(text)
  })
}
