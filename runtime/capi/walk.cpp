// SPDX-License-Identifier: MIT
#include "walk.h"

#include <string>
#include <unordered_set>

#include "fault.h"
#include "xiokv/kv_list.h"

namespace xiokv::host {

namespace {

std::string bytes_of(const xiokv_key &key) {
  return {reinterpret_cast<const char *>(key.bytes), key.length};
}

std::vector<xiokv_key> keys_on(const Pages &page) {
  std::vector<xiokv_key> keys;
  xiokv_list_page walk;
  xiokv_key key;
  int got = xiokv_list_begin(&walk, page.as<void>(), page.size());
  while (got >= 0 && (got = xiokv_list_next(&walk, &key)) == 1)
    keys.push_back(key);
  if (got < 0)
    refuse(XIOKV_E_LIST_PAGE,
           "the controller sent a List page that is none: it ends early, or "
           "has a key of no allowed length");
  return keys;
}

std::vector<xiokv_key> fetch_keys(Context &context, const xiokv_key &start) {
  Pages page(context.page_size());
  context.fetch_page(start, page);
  return keys_on(page);
}

} // namespace

int walk_keys(Context &context, const xiokv_key &start, xiokv_each each,
              void *argument) {
  std::vector<xiokv_key> page = fetch_keys(context, start);
  const std::string first = page.empty() ? "" : bytes_of(page[0]);
  std::unordered_set<std::string> seen;
  for (;;) {
    const size_t known = seen.size();
    for (const xiokv_key &key : page)
      if (seen.insert(bytes_of(key)).second) {
        const int end = each(argument, &key);
        if (end != 0)
          return end;
      } else if (bytes_of(key) == first) {
        return 0;
      }
    if (seen.size() == known)
      return 0;
    const xiokv_key last = page.back();
    page = fetch_keys(context, last);
    if (!page.empty() && bytes_of(page[0]) == bytes_of(last))
      page.erase(page.begin());
  }
}

} // namespace xiokv::host
