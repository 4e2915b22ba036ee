"""REINFORCE and actor-critic: a walk on a line that is to end on the right, by draws of Categorical."""

from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

torch.manual_seed(543)
eps = np.finfo(np.float32).eps.item()
SavedAction = namedtuple("SavedAction", ["log_prob", "value"])


class Walk:
    """A step to the right gives 1, one to the left nothing; eight steps."""

    def reset(self):
        self.at, self.left = 0.0, 8
        return np.array([self.at, self.left / 8], dtype=np.float32), {}

    def step(self, action):
        self.at += 0.1 if action == 1 else -0.1
        self.left -= 1
        return np.array([self.at, self.left / 8], dtype=np.float32), float(action == 1), self.left == 0, False, {}


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(2, 16)
        self.dropout = nn.Dropout(p=0.1)
        self.action_head, self.value_head = nn.Linear(16, 2), nn.Linear(16, 1)
        self.saved_actions, self.rewards = [], []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


policy, env = Policy(), Walk()
optimizer = optim.Adam(policy.parameters(), lr=3e-2)


def select_action(state):
    state = torch.from_numpy(state).float().unsqueeze(0)
    probs, value = policy(state)
    m = Categorical(probs)
    action = m.sample()
    policy.saved_actions.append(SavedAction(m.log_prob(action), value[0]))
    return action.item()


def finish_episode(critic):
    R, returns, policy_losses, value_losses = 0, deque(), [], []
    for r in policy.rewards[::-1]:
        R = r + 0.9 * R
        returns.appendleft(R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps) if not critic else returns
    for (log_prob, value), R in zip(policy.saved_actions, returns):
        advantage = R - value.item() if critic else R
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.cat(policy_losses).sum() + (torch.stack(value_losses).sum() if critic else 0)
    loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_actions[:]


running_reward = 4.0
for i_episode in range(1, 61):  # noqa: B007
    state, _ = env.reset()
    ep_reward = 0
    for _ in range(1, 100):
        state, reward, done, truncated, _ = env.step(select_action(state))
        policy.rewards.append(reward)
        ep_reward += reward
        if done or truncated:
            break
    running_reward = 0.1 * ep_reward + 0.9 * running_reward
    finish_episode(critic=True)
print(f"Running reward: {running_reward:.2f}")
assert running_reward > 6
print("done")
