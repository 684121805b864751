"""Methods of earlier versions of implicit, in terms of `recommend`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taylorank.compat.implicit.utils import Lists


class OlderMethods:
    """`rank_items` and `recommend_all`."""

    recommend: Any

    def rank_items(
        self, userid: Any, user_items: Any, selected_items: ArrayLike, recalculate_user: bool = False
    ) -> Lists:
        """Return these items, best first: `recommend` with `items`."""
        how = {"recalculate_user": recalculate_user, "items": selected_items, "filter_already_liked_items": False}
        lists: Lists = self.recommend(userid, user_items, **how)
        return lists

    def recommend_all(
        self,
        user_items: Any,
        N: int = 10,
        recalculate_user: bool = False,
        filter_already_liked_items: bool = True,
        filter_items: ArrayLike | None = None,
        users_items_offset: int = 0,
    ) -> NDArray[Any]:
        """Return the item numbers of every user's list, (users, N); the first row is user `users_items_offset`."""
        users = np.arange(user_items.shape[0]) + users_items_offset
        ids: NDArray[Any] = self.recommend(
            users, user_items, N, filter_already_liked_items, filter_items, recalculate_user
        )[0]
        return ids
