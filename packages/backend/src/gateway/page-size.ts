/** How many items a page of a list has. */
const PER_PAGE = 30
const PER_PAGE_MAX = 1000

/** The size of a page for the number that a client asks for. */
export function pageSize(perPage: number = PER_PAGE): number {
  return perPage <= 0 ? PER_PAGE : Math.min(perPage, PER_PAGE_MAX)
}
