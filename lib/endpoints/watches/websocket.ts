/**
 * Answers watches over WebSocket, which this API does not support. Clients that try WebSocket first fall back to plain HTTP.
 * Source: k8s.io/apimachinery/pkg/util/httpstream/wsstream; io.fabric8.kubernetes.client.dsl.internal.AbstractWatchManager.
 */
import { type ApiRequest, type ApiResponse, emptyStream } from '../request.ts'

/** Reports whether a request asks for a WebSocket. API Gateway drops the hop-by-hop header Upgrade, but keeps Sec-WebSocket-Key. */
export const asksForWebSocket = ({ headers }: Pick<ApiRequest, 'headers'>): boolean =>
  headers['sec-websocket-key'] !== undefined || /\bwebsocket\b/i.test(headers.upgrade ?? '')

/**
 * The response to a watch over WebSocket: a 200 without events, after which fabric8 watches over HTTP at once. fabric8
 * waits for the end of the body, so a stream of events would block it. A 503 delays it; any other code fails the watch.
 */
export const noWebSocket: ApiResponse = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  warnings: [],
  body: emptyStream,
}
