/**
 * Answers watches that get no events: HEAD, and watches over WebSocket, which this API does not support. Clients that try WebSocket
 * first fall back to plain HTTP.
 * Source: k8s.io/apimachinery/pkg/util/httpstream/wsstream; io.fabric8.kubernetes.client.dsl.internal.AbstractWatchManager.
 */
import { type ApiRequest, type ApiResponse, emptyStream } from '../request.ts'

/** Reports whether a watch gets no events. API Gateway drops the hop-by-hop header Upgrade, but keeps Sec-WebSocket-Key. */
export const getsNoEvents = ({ method, headers }: ApiRequest): boolean =>
  method === 'HEAD' || headers['sec-websocket-key'] !== undefined || /\bwebsocket\b/i.test(headers.upgrade ?? '')

/**
 * A 200 without events. After it as the response to a watch over WebSocket, fabric8 watches over HTTP at once. fabric8
 * waits for the end of the body, so a stream of events would block it. A 503 delays it; any other code fails the watch.
 */
export const withoutEvents: ApiResponse = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  warnings: [],
  body: emptyStream,
}
