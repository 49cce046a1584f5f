// What `@pannier/client/report` offers. Written by `npm run api`.

/** The answer of a report. */
export interface ReportAnswer<Row> {
    /** Names of columns, in their order. */
    readonly columns: readonly string[];
    /** By the names of the columns. */
    readonly rows: readonly Row[];
    /** The newest commit that the rows have, as the server counts them since its start. */
    readonly commit: number;
}

/** The options of `runReport`, beside the name of the report. */
export interface ReportOptions {
    /** Values by the names of the report's parameters. What is left out has its default. */
    readonly parameters?: Readonly<Record<string, string | number | bigint | boolean | Date>>;
    /** The token of the session: `client.token`. A guest asks when it is left out. */
    readonly token?: string | undefined;
    /** Ends the request. */
    readonly signal?: AbortSignal | undefined;
    /** Milliseconds until the request has failed; 60,000 by default. */
    readonly requestMsMax?: number;
}

/**
 * Runs a report of the server.
 *
 * @throws ClientError PANNIER_PEER_REFUSED: `details` has what is wrong with parameters; PANNIER_SIGNED_OUT, PANNIER_PEER_UNREACHABLE; PannierError
 *   PANNIER_ABORTED
 * @example
 * const options = { parameters: { from: '2026-06-01' }, token: client.token }
 * const { rows } = await runReport<{ month: string; revenue: number }>('https://example.com', 'revenue', options)
 * show(rows.map(({ month, revenue }) => `${month}: ${revenue}`))
 */
export function runReport<Row extends object = Record<string, string | number | null>>(url: string | URL, name: string, options?: ReportOptions): Promise<ReportAnswer<Row>>;
